// σ(g) = 1/(1 + e^−g) of binary32 numbers by table (docs/numbers.md §5, hls/engine/sigmoid.hpp).
// A value a lane and cycle, 2 + TableCycles + 1 = 8 later its result: |g| to fixed point (shift, round), table,
// leading zeros. Relies on lpu_interpolate, lpu_float_pkg; nothing to reset.
module lpu_sigmoid #(
  parameter int Lanes = 1
) (
  input  logic                clk_i,
  input  logic [Lanes*32-1:0] value_i,
  output logic [Lanes*32-1:0] result_o
);
  localparam int ArgumentBits = 20;
  localparam int RestBits = 10;
  // |g|·2^16 with 7 more bits below the significand: a shift to the right by 141 − field, 11 (larger ones are clamped)
  // to 31 (smaller ones round to zero).
  function automatic logic [33:0] shifted(input logic [31:0] value);
    logic [7:0] field;
    logic [7:0] right;
    field = value[30:23];
    right = 8'd141 - field;
    shifted = {field >= 8'd131, lpu_float_pkg::shift_to_fixed({1'b1, value[22:0]},
               (field < 8'd110 || field >= 8'd131) ? 6'd33 : right[5:0])};
  endfunction

  function automatic logic [ArgumentBits-1:0] argument(input logic [33:0] moved);
    logic [31:0] whole;
    whole = lpu_float_pkg::round_fixed(moved[32:0]);
    argument = (moved[33] || whole[31:ArgumentBits] != '0) ? '1 : whole[ArgumentBits-1:0];
  endfunction

  // y·2^−23, y ≤ 2^23: exact.
  function automatic logic [31:0] normalised(input logic [23:0] y);
    logic [4:0]  zeros;
    logic [23:0] moved;
    zeros = lpu_float_pkg::leading_zeros_32({y, 8'd0});
    moved = y << zeros;
    normalised = (y == 24'd0) ? 32'd0 : {1'b0, 8'd127 - {3'd0, zeros}, moved[22:0]};
  endfunction

  logic [33:0]           shifted_s1 [Lanes];
  logic                  negative_s1 [Lanes];
  logic [Lanes*10-1:0]   index_s2_q;
  logic [Lanes*RestBits-1:0] rest_s2_q;
  logic [Lanes-1:0]      negative_s2_q;
  logic [Lanes*24-1:0]   y;
  logic [Lanes*24-1:0]   unused_next;

  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lanes; l++) begin
      result_o[l*32+:32] <= normalised(y[l*24+:24]);

      {index_s2_q[l*10+:10], rest_s2_q[l*RestBits+:RestBits]} <= argument(shifted_s1[l]);
      negative_s2_q[l] <= negative_s1[l];

      shifted_s1[l] = shifted(value_i[l*32+:32]);
      negative_s1[l] = value_i[l*32+31];
    end
  end

  lpu_interpolate #(
    .Lanes(Lanes), .Entries(1024), .RestBits(RestBits), .ComplementOf(1 << 23), .Points(lpu_tables_pkg::Sigmoid)
  ) u_table (
    .clk_i, .index_i(index_s2_q), .rest_i(rest_s2_q), .complement_i(negative_s2_q), .next_o(unused_next), .result_o(y)
  );
endmodule
