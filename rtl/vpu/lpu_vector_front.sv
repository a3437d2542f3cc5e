// The front of every vector chain (docs/isa.md, "VPU: entries"): a slice of VectorLanes sums becomes binary32 and is
// multiplied once, by the next norm's gains (residual chain) or by one scale (1/rms, or 1/z of a head).
// One front for all chains: the VPU takes one slice a cycle, so their conversions never meet.
// Rows that aren't there (lanes_i) and empty cycles become zero here, so nothing behind can saturate by them.
// value_o: ConvertCycles after the slice; product_o: MultiplyCycles after that. Relies on lpu_convert, lpu_multiply.
module lpu_vector_front #(
  parameter int VectorLanes = 2
) (
  input  logic                                              clk_i,
  // the slice
  input  logic                                              valid_i,
  input  logic [VectorLanes-1:0]                            lanes_i,
  input  logic [VectorLanes*lpu_pkg::AccumulatorBits-1:0]   sum_i,
  input  logic [VectorLanes*lpu_pkg::RowExponentBits-1:0]   row_exponent_i,
  input  logic [9:0]                                        exponent_offset_i,  // signed, added to the rows' exponents
  input  logic [31:0]                                       scale_i,
  input  logic                                              uses_gain_i,
  // ConvertCycles after the slice
  input  logic [VectorLanes*32-1:0]                         gain_i,
  output logic [VectorLanes*32-1:0]                         value_o,
  output logic [VectorLanes-1:0]                            value_saturated_o,
  // ConvertCycles + MultiplyCycles after the slice
  output logic [VectorLanes*32-1:0]                         product_o,
  output logic [VectorLanes-1:0]                            product_saturated_o
);
  localparam int SumBits = lpu_pkg::AccumulatorBits;
  localparam int RowBits = lpu_pkg::RowExponentBits;

  logic [VectorLanes*SumBits-1:0] sum;
  logic [VectorLanes*10-1:0]      exponent;
  always_comb begin
    for (int l = 0; l < VectorLanes; l++) begin
      sum[l*SumBits+:SumBits] = (valid_i && lanes_i[l]) ? sum_i[l*SumBits+:SumBits] : '0;
      exponent[l*10+:10] = 10'($signed(row_exponent_i[l*RowBits+:RowBits])) + exponent_offset_i;
    end
  end

  lpu_convert #(.Lanes(VectorLanes)) u_convert (
    .clk_i, .sum_i(sum), .exponent_i(exponent), .result_o(value_o), .saturated_o(value_saturated_o)
  );

  logic [31:0] scale_late;
  logic        uses_gain_late;
  lpu_delay #(.Width(33), .Cycles(lpu_pkg::ConvertCycles)) u_scale (
    .clk_i, .rst_ni(1'b1), .value_i({uses_gain_i, scale_i}), .value_o({uses_gain_late, scale_late})
  );

  lpu_multiply #(.Lanes(VectorLanes)) u_multiply (
    .clk_i, .a_i(value_o), .b_i(uses_gain_late ? gain_i : {VectorLanes{scale_late}}),
    .result_o(product_o), .saturated_o(product_saturated_o)
  );
endmodule
