// The mix chain behind the front (docs/isa.md, kMix; docs/numbers.md §9): weighted sums × 1/z, quantised in blocks of
// 32. The front made the product already; a block comes QuantiseCycles after its last slice's product.
// Relies on lpu_block_stage.
module lpu_chain_mix #(
  parameter int VectorLanes = 2,
  localparam int SlotBits = 5
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic [SlotBits-1:0]       slot_i,
  input  logic                      block_end_i,
  input  logic [VectorLanes*32-1:0] product_i,
  output logic                      block_valid_o,
  output logic [lpu_pkg::BlockValues*lpu_pkg::MantissaBits-1:0] mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0]                      offset_o,
  output logic                      saturated_o
);
  lpu_block_stage #(.SliceValues(VectorLanes)) u_block (
    .clk_i, .rst_ni, .valid_i, .slot_i, .end_i(block_end_i), .values_i(product_i),
    .block_valid_o, .mantissas_o, .offset_o, .saturated_o
  );
endmodule
