// A value some cycles later: what travels beside a pipeline of fixed depth. Relies on nothing.
// With HasReset the registers start at zero, for bits that mean "something is here".
module lpu_delay #(
  parameter int Width = 1,
  parameter int Cycles = 1,
  parameter bit HasReset = 1'b0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] value_i,
  output logic [Width-1:0] value_o
);
  if (Cycles == 0) begin : gen_wire
    logic unused;
    assign unused = ^{clk_i, rst_ni};
    assign value_o = value_i;
  end else if (HasReset) begin : gen_reset
    logic [Cycles*Width-1:0] passed_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) passed_q <= '0;
      else passed_q <= (Cycles * Width)'({passed_q, value_i});
    end
    assign value_o = passed_q[(Cycles-1)*Width+:Width];
  end else begin : gen_shift
    logic [Cycles*Width-1:0] passed_q;
    always_ff @(posedge clk_i) passed_q <= (Cycles * Width)'({passed_q, value_i});
    assign value_o = passed_q[(Cycles-1)*Width+:Width];
    logic unused;
    assign unused = rst_ni;
  end
endmodule
