// log2 of 32-bit integers above zero, with 26 fraction bits, by table (docs/numbers.md §5, hls/engine/gumbel.hpp):
// leading zeros and shift 1, table 5: six cycles; the whole part joins in the result's own wires.
// Relies on lpu_interpolate, lpu_delay, lpu_float_pkg; nothing to reset.
module lpu_log2 #(
  parameter int Lanes = 1
) (
  input  logic                clk_i,
  input  logic [Lanes*32-1:0] value_i,
  output logic [Lanes*32-1:0] result_o  // 0…2^31
);
  localparam int BaseBits = lpu_tables_pkg::WideBaseBits;
  localparam int RestBits = 23;
  localparam int LogBits = 26;

  logic [Lanes*8-1:0]        index_q;
  logic [Lanes*RestBits-1:0] rest_q;
  logic [Lanes*5-1:0]        whole_q;
  logic [Lanes*5-1:0]        whole_late;
  logic [Lanes*BaseBits-1:0] part;
  logic [Lanes*BaseBits-1:0] unused_next;

  function automatic logic [30:0] below(input logic [31:0] value);
    logic [31:0] moved;
    moved = value << lpu_float_pkg::leading_zeros_32(value);
    below = moved[30:0];
  endfunction

  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lanes; l++) begin
      {index_q[l*8+:8], rest_q[l*RestBits+:RestBits]} <= below(value_i[l*32+:32]);
      whole_q[l*5+:5] <= 5'd31 - lpu_float_pkg::leading_zeros_32(value_i[l*32+:32]);
    end
  end

  lpu_interpolate #(
    .Lanes(Lanes), .Entries(256), .RestBits(RestBits), .BaseBits(BaseBits),
    .SlopeBits(lpu_tables_pkg::WideSlopeBits), .Points(lpu_tables_pkg::Log2)
  ) u_table (
    .clk_i, .index_i(index_q), .rest_i(rest_q), .complement_i('0), .next_o(unused_next), .result_o(part)
  );
  lpu_delay #(.Width(Lanes * 5), .Cycles(lpu_pkg::TableCycles)) u_whole (
    .clk_i, .rst_ni(1'b1), .value_i(whole_q), .value_o(whole_late)
  );
  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      // A part of exactly 1 carries into the whole part.
      result_o[l*32+:32] = {1'b0, whole_late[l*5+:5], {LogBits{1'b0}}} + 32'(part[l*BaseBits+:BaseBits]);
    end
  end
endmodule
