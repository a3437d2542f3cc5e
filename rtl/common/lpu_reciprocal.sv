// 1/x, or with SquareRoot 1/√x, of positive binary32 numbers by table (docs/numbers.md §5, hls/engine/reciprocal.hpp,
// rsqrt.hpp). The sign is ignored; zero and subnormals count as 2^−127. TableCycles = 5 later: the result, whose
// exponent was made beside the look-up. Relies on lpu_interpolate; y stays below 2^24 (scripts/make_tables.py).
module lpu_reciprocal #(
  parameter bit SquareRoot = 1'b0
) (
  input  logic        clk_i,
  input  logic [31:0] value_i,
  output logic [31:0] result_o
);
  logic [7:0]  field;
  logic [22:0] fraction;
  logic [8:0]  index;
  logic [7:0]  field_made;
  logic [7:0]  field_late;
  logic [23:0] y;

  assign field = value_i[30:23];
  assign fraction = (field == 8'd0) ? 23'd0 : value_i[22:0];

  if (SquareRoot) begin : gen_rsqrt
    logic [8:0]  half;
    logic [23:0] unused_next;
    assign half = ({1'b0, field} + 9'd1) >> 1;
    assign index = {!field[0], fraction[22:15]};
    assign field_made = 8'd190 - half[7:0];
    lpu_interpolate #(
      .Entries(512), .RestBits(15), .Points(lpu_tables_pkg::Rsqrt)
    ) u_table (
      .clk_i, .index_i(index), .rest_i(fraction[14:0]), .complement_i(1'b0), .next_o(unused_next), .result_o(y)
    );
  end else begin : gen_reciprocal
    logic [23:0] unused_next;
    assign index = fraction[22:14];
    assign field_made = (field >= 8'd253) ? 8'd0 : 8'd253 - field;
    lpu_interpolate #(
      .Entries(512), .RestBits(14), .Points(lpu_tables_pkg::Reciprocal)
    ) u_table (
      .clk_i, .index_i(index), .rest_i(fraction[13:0]), .complement_i(1'b0), .next_o(unused_next), .result_o(y)
    );
  end

  lpu_delay #(.Width(8), .Cycles(lpu_pkg::TableCycles)) u_field (
    .clk_i, .rst_ni(1'b1), .value_i(field_made), .value_o(field_late)
  );
  assign result_o = (field_late == 8'd0) ? 32'd0 : {1'b0, field_late, y[22:0]};

  logic unused_sign;
  assign unused_sign = ^{value_i[31], y[23]};
endmodule
