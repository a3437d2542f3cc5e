// Exact sums to binary32: RNE(sum · 2^exponent), flushed or saturated (docs/numbers.md §4, hls/engine/convert.hpp).
// A sum a lane and cycle, ConvertCycles = 4 later its result: negate and count, two shifts, round.
// Why a rolled loop over lanes: Verilator compiles it many times faster than a module per lane.
// Relies on lpu_float_pkg. Latency is fixed; there is nothing to reset.
module lpu_convert #(
  parameter int Lanes = 1,
  parameter int SumBits = lpu_pkg::AccumulatorBits,
  parameter int ExponentBits = 10
) (
  input  logic                          clk_i,
  input  logic [Lanes*SumBits-1:0]      sum_i,
  input  logic [Lanes*ExponentBits-1:0] exponent_i,
  output logic [Lanes*32-1:0]           result_o,
  output logic [Lanes-1:0]              saturated_o
);
  if (SumBits < 27 || SumBits > 127) $error("lpu_convert: SumBits must be 27 to 127");
  if (ExponentBits < 2 || ExponentBits > 11) $error("lpu_convert: ExponentBits must be 2 to 11");

  // Leading zeros are counted on the one's complement, beside the negation: where the magnitude of a negative sum is a
  // power of two, its one lies one bit higher than counted. The bit above the sum's own width catches it.
  localparam int ShiftBits = SumBits + 1;

  function automatic logic [SumBits-1:0] magnitude_of(input logic [SumBits-1:0] sum);
    magnitude_of = sum[SumBits-1] ? ~sum + SumBits'(1) : sum;
  endfunction

  // SumBits for 0 and −1: the padding of ones ends the count.
  function automatic logic [6:0] zeros_of(input logic [SumBits-1:0] sum);
    zeros_of = lpu_float_pkg::leading_zeros_128({sum ^ {SumBits{sum[SumBits-1]}}, {(128 - SumBits){1'b1}}});
  endfunction

  function automatic logic [32:0] rounded(input logic [ShiftBits-1:0] shifted, input logic [6:0] zeros,
                                          input logic negative, input logic is_zero,
                                          input logic signed [ExponentBits-1:0] exponent);
    logic               over;
    logic [23:0]        kept;
    logic               up;
    logic [24:0]        significand;
    logic signed [12:0] field;
    over = shifted[SumBits];
    kept = over ? 24'h800000 : shifted[SumBits-1-:24];
    up = !over && shifted[SumBits-25] && (kept[0] || (shifted[SumBits-26:0] != '0));
    significand = {1'b0, kept} + {24'd0, up};
    field = 13'(exponent) + 13'(SumBits - 1 + lpu_float_pkg::Bias) - $signed({6'd0, zeros}) +
            $signed({12'd0, over}) + $signed({12'd0, significand[24]});
    if (is_zero) rounded = 33'd0;
    else if (field <= 13'sd0) rounded = {1'b0, negative, 31'd0};
    else if (field >= 13'sd255) rounded = {1'b1, negative, lpu_float_pkg::LargestFinite};
    else rounded = {1'b0, negative, field[7:0], significand[22:0]};
  endfunction

  logic [SumBits-1:0]             magnitude_s1 [Lanes];
  logic [6:0]                     zeros_s1 [Lanes];
  logic [ShiftBits-1:0]           shifted_s2 [Lanes];
  logic [6:0]                     zeros_s2 [Lanes];
  logic [ShiftBits-1:0]           shifted_s3 [Lanes];
  logic [6:0]                     zeros_s3 [Lanes];
  logic [1:0]                     flags_s1 [Lanes];  // {negative, zero}
  logic [1:0]                     flags_s2 [Lanes];
  logic [1:0]                     flags_s3 [Lanes];
  logic signed [ExponentBits-1:0] exponent_s1 [Lanes];
  logic signed [ExponentBits-1:0] exponent_s2 [Lanes];
  logic signed [ExponentBits-1:0] exponent_s3 [Lanes];

  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lanes; l++) begin
      {saturated_o[l], result_o[l*32+:32]} <=
          rounded(shifted_s3[l], zeros_s3[l], flags_s3[l][1], flags_s3[l][0], exponent_s3[l]);

      shifted_s3[l] = shifted_s2[l] << zeros_s2[l][2:0];
      zeros_s3[l] = zeros_s2[l];
      flags_s3[l] = flags_s2[l];
      exponent_s3[l] = exponent_s2[l];

      shifted_s2[l] = {1'b0, magnitude_s1[l]} << {zeros_s1[l][6:3], 3'd0};
      zeros_s2[l] = zeros_s1[l];
      flags_s2[l] = flags_s1[l];
      exponent_s2[l] = exponent_s1[l];

      magnitude_s1[l] = magnitude_of(sum_i[l*SumBits+:SumBits]);
      zeros_s1[l] = zeros_of(sum_i[l*SumBits+:SumBits]);
      flags_s1[l] = {sum_i[l*SumBits+SumBits-1], sum_i[l*SumBits+:SumBits] == '0};
      exponent_s1[l] = exponent_i[l*ExponentBits+:ExponentBits];
    end
  end
endmodule
