// 32 binary32 values to a block of activations (docs/numbers.md §3, hls/engine/quantise.hpp): signed 10-bit mantissas
// with one offset. A block a cycle, QuantiseCycles = 4 later: offsets asked for as one-hot, ORed over the block;
// the highest of them; shift; round and clamp. saturated_o: the largest value lies above the window.
// Relies on lpu_float_pkg; nothing to reset.
module lpu_quantise (
  input  logic                                                    clk_i,
  input  logic [lpu_pkg::BlockValues*32-1:0]                      values_i,
  output logic [lpu_pkg::BlockValues*lpu_pkg::MantissaBits-1:0]   mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0]                        offset_o,
  output logic                                                    saturated_o
);
  localparam int Values = lpu_pkg::BlockValues;
  localparam int Bits = lpu_pkg::MantissaBits;
  // The field whose value asks for offset 0: its significand's top bit becomes the mantissa's bit 8.
  localparam int LowestField = lpu_float_pkg::Bias + Bits - 2 + lpu_pkg::WindowLow;
  localparam logic [7:0] Lowest = 8'(LowestField);
  localparam logic [7:0] Highest = 8'(LowestField + lpu_pkg::WindowBinades - 1);

  function automatic logic [4:0] wanted(input logic [7:0] field);
    logic [7:0] above;
    above = field - Lowest;
    wanted = (field <= Lowest) ? 5'd0 : (field >= Highest) ? 5'd31 : above[4:0];
  endfunction

  function automatic logic [4:0] highest_one(input logic [31:0] value);
    highest_one = 5'd31 - lpu_float_pkg::leading_zeros_32(value);
  endfunction

  // {clamped, integer bits, guard, sticky}: |x|·2^−(offset + WindowLow). Shifts by less than 15 leave more than 9 bits.
  function automatic logic [33:0] shifted(input logic [31:0] value, input logic [4:0] offset);
    logic [8:0] right;  // from a significand with 7 bits more below it, plus 256 so that it's never negative
    right = 9'(Lowest) + 9'd15 + 9'd7 + {4'd0, offset} + 9'd128 - {1'b0, value[30:23]};
    if (value[30:23] == 8'd0 || right > 9'd128 + 9'd33) shifted = 34'd0;
    else if (right < 9'd128 + 9'd22) shifted = {1'b1, 33'd0};
    else shifted = {1'b0, lpu_float_pkg::shift_to_fixed({1'b1, value[22:0]}, right[5:0])};
  endfunction

  function automatic logic [Bits-1:0] mantissa(input logic [33:0] moved, input logic negative);
    logic [31:0]     whole;
    logic [Bits-1:0] magnitude;
    whole = lpu_float_pkg::round_fixed(moved[32:0]);
    magnitude = (moved[33] || whole > 32'(lpu_pkg::MantissaMax)) ? Bits'(lpu_pkg::MantissaMax) : whole[Bits-1:0];
    mantissa = negative ? ~magnitude + Bits'(1) : magnitude;
  endfunction

  logic [31:0] offsets;
  logic        above;
  always_comb begin
    offsets = 32'd0;
    above = 1'b0;
    for (int j = 0; j < Values; j++) begin
      offsets = offsets | (32'd1 << wanted(values_i[j*32+23+:8]));
      above = above || (values_i[j*32+23+:8] > Highest);
    end
  end

  logic [31:0]          offsets_s1_q;
  logic [Values*32-1:0] values_s1_q;
  logic [Values*32-1:0] values_s2_q;
  logic [4:0]           offset_s2_q;
  logic [4:0]           offset_s3_q;
  logic                 above_s1_q;
  logic                 above_s2_q;
  logic                 above_s3_q;
  logic [33:0]          shifted_s3 [Values];
  logic                 negative_s3 [Values];

  always_ff @(posedge clk_i) begin
    for (int j = 0; j < Values; j++) begin
      mantissas_o[j*Bits+:Bits] <= mantissa(shifted_s3[j], negative_s3[j]);
      shifted_s3[j] = shifted(values_s2_q[j*32+:32], offset_s2_q);
      negative_s3[j] = values_s2_q[j*32+31];
    end
    offset_o <= offset_s3_q;
    saturated_o <= above_s3_q;
    offset_s3_q <= offset_s2_q;
    above_s3_q <= above_s2_q;
    values_s2_q <= values_s1_q;
    offset_s2_q <= highest_one(offsets_s1_q);
    above_s2_q <= above_s1_q;
    values_s1_q <= values_i;
    offsets_s1_q <= offsets;
    above_s1_q <= above;
  end
endmodule
