// The residual as the start of sums (docs/numbers.md §4, "align"): RNE(x · 2^−exponent) as an 88-bit integer, exponent
// = row exponent − F + kWindowLow, clamped to ±2^86. It runs beside the products of the same beat.
// Values come in stage 3 of a row group's first beat; the aligned ones stand from stage 17 of that beat on until those
// of the next row group, so that a block of several beats finds them at its end.
// Relies on values being zero beyond the model's width, and on nothing between two row groups' first beats.
module lpu_mvu_align #(
  parameter int Lanes = 4,
  localparam int LowBits = lpu_mvu_pkg::LowBits,
  localparam int HighBits = lpu_mvu_pkg::HighBits,
  localparam int RowExponentBits = lpu_pkg::RowExponentBits,
  localparam int CountBits = $clog2(Lanes + 1)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             valid_i,            // stage 3
  input  logic [Lanes*32-1:0]              values_i,           // binary32
  input  logic [Lanes*RowExponentBits-1:0] row_exponents_i,    // signed
  output logic [Lanes*LowBits-1:0]         low_o,              // stage 17
  output logic [Lanes*HighBits-1:0]        high_o,
  output logic [CountBits-1:0]             saturations_o       // lanes clamped, for one cycle (stage 12)
);
  localparam int Entry = 10;                                   // stage in which the work begins
  localparam int FractionBits = 25;                            // kept below the integer: a value of less counts as zero
  localparam int LargestLeft = lpu_pkg::AccumulatorBits - 2 - 24;
  localparam int WideBits = 24 + LargestLeft + FractionBits + 1;
  localparam int ShiftBits = $clog2(LargestLeft + FractionBits + 1);
  // x = ±1.f·2^(field − 127); its integer's last bit is 2^(row exponent − F + WindowLow).
  localparam int Bias = 127 + 23 - lpu_pkg::MinimumFractionBits + lpu_pkg::WindowLow;
  localparam int KeptBits = WideBits - FractionBits;

  logic valid_10, valid_11, valid_12, valid_13, valid_14, valid_15, valid_16;
  lpu_delay #(.Width(1), .Cycles(Entry - lpu_mvu_pkg::MemoryStage), .HasReset(1'b1)) u_valid (
    .clk_i, .rst_ni, .value_i(valid_i), .value_o(valid_10)
  );
  always_ff @(posedge clk_i)
    if (!rst_ni) {valid_11, valid_12, valid_13, valid_14, valid_15, valid_16} <= '0;
    else
      {valid_11, valid_12, valid_13, valid_14, valid_15, valid_16} <=
          {valid_10, valid_11, valid_12, valid_13, valid_14, valid_15};

  // 40 bits a lane wait here rather than 88 at the end.
  logic [Lanes*32-1:0] values_10;
  logic [Lanes*RowExponentBits-1:0] exponents_10;
  lpu_ring_delay #(.Width(Lanes * (32 + RowExponentBits)), .Cycles(Entry - lpu_mvu_pkg::MemoryStage)) u_values (
    .clk_i, .rst_ni, .value_i({row_exponents_i, values_i}), .value_o({exponents_10, values_10})
  );

  // Places that the significand moves left of the integer's last bit; negative: right.
  function automatic logic signed [10:0] left_of(input logic [7:0] field, input logic signed [RowExponentBits-1:0] row);
    left_of = 11'($signed({3'b0, field})) - 11'(Bias) - 11'(row);
  endfunction
  function automatic logic [CountBits-1:0] count(input logic [Lanes-1:0] bits);
    count = '0;
    for (int lane = 0; lane < Lanes; lane++) count = count + CountBits'(bits[lane]);
  endfunction

  logic [Lanes-1:0] negative_11, negative_12, negative_13, negative_14, negative_15;
  logic [Lanes-1:0] zero_11, clamped_11, clamped_12, clamped_13, clamped_14;
  // Register arrays: blocking assignments in reverse order of the stages, read nowhere else.
  logic signed [10:0]        left[Lanes];                 // of the values in stage 10
  logic [23:0]               significand_11[Lanes];
  logic [ShiftBits-1:0]      shift_11[Lanes];
  logic [23+64:0]            wide_12[Lanes];
  logic [4:0]                shift_12[Lanes];
  logic [WideBits-1:0]       wide_13[Lanes];
  logic [2:0]                shift_13[Lanes];
  logic [WideBits-1:0]       wide_14[Lanes];
  logic [KeptBits-1:0]       kept_15[Lanes];
  logic [LowBits-1:0]        low_16[Lanes];
  logic [HighBits-1:0]       high_16[Lanes];              // inverted where negative: the carry is still to come
  logic                      carry_16[Lanes];

  always_ff @(posedge clk_i) begin
    saturations_o <= valid_11 ? count(clamped_11) : CountBits'(0);
    if (valid_16)
      for (int lane = 0; lane < Lanes; lane++) begin
        low_o[lane*LowBits+:LowBits] <= low_16[lane];
        high_o[lane*HighBits+:HighBits] <= high_16[lane] + HighBits'(carry_16[lane]);
      end
    if (valid_15)
      for (int lane = 0; lane < Lanes; lane++) begin
        {carry_16[lane], low_16[lane]} = {1'b0, kept_15[lane][LowBits-1:0] ^ {LowBits{negative_15[lane]}}} +
                                         (LowBits + 1)'(negative_15[lane]);
        high_16[lane] = HighBits'(kept_15[lane][KeptBits-1:LowBits]) ^ {HighBits{negative_15[lane]}};
      end
    if (valid_14)
      for (int lane = 0; lane < Lanes; lane++) begin
        // A value with bits below its integer is below 2^24: the rounding's carry ends there.
        kept_15[lane] = clamped_14[lane] ? KeptBits'(1) << (lpu_pkg::AccumulatorBits - 2)
            : {wide_14[lane][WideBits-1:2*FractionBits],
               wide_14[lane][FractionBits+:FractionBits] +
               FractionBits'(wide_14[lane][FractionBits-1] &&
                             ((|wide_14[lane][FractionBits-2:0]) || wide_14[lane][FractionBits]))};
      end
    if (valid_13)
      for (int lane = 0; lane < Lanes; lane++) wide_14[lane] = wide_13[lane] << shift_13[lane];
    if (valid_12)
      for (int lane = 0; lane < Lanes; lane++) begin
        wide_13[lane] = WideBits'(wide_12[lane]) << {shift_12[lane][4:3], 3'b0};
        shift_13[lane] = shift_12[lane][2:0];
      end
    if (valid_11)
      for (int lane = 0; lane < Lanes; lane++) begin
        wide_12[lane] = zero_11[lane] ? 88'b0 : {64'b0, significand_11[lane]} << {shift_11[lane][6:5], 5'b0};
        shift_12[lane] = shift_11[lane][4:0];
      end
    if (valid_10)
      for (int lane = 0; lane < Lanes; lane++) begin
        left[lane] = left_of(values_10[lane*32+23+:8], exponents_10[lane*RowExponentBits+:RowExponentBits]);
        significand_11[lane] = {1'b1, values_10[lane*32+:23]};
        shift_11[lane] = ShiftBits'(left[lane] + 11'(FractionBits));
        zero_11[lane] <= values_10[lane*32+23+:8] == 8'd0 || left[lane] < -(11'(FractionBits));
        clamped_11[lane] <= values_10[lane*32+23+:8] != 8'd0 && left[lane] > 11'(LargestLeft);
        negative_11[lane] <= values_10[lane*32+31];
      end
    {negative_12, negative_13, negative_14, negative_15} <= {negative_11, negative_12, negative_13, negative_14};
    {clamped_12, clamped_13, clamped_14} <= {clamped_11, clamped_12, clamped_13};
  end
endmodule
