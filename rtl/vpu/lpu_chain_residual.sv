// The residual chain behind the front (docs/isa.md, kResidual and kEmbed): the value is the new residual, its product
// with the next norm's gain is quantised in blocks of 32; beside it 1/rms (lpu_norm).
// Two views of the same slice: value (ConvertCycles after its entry) and product (MultiplyCycles later), each with its
// own control. A block comes QuantiseCycles after its last slice's product. Relies on lpu_norm, lpu_block_collector,
// lpu_quantise.
module lpu_chain_residual #(
  parameter int VectorLanes = 2,
  localparam int SlotBits = 5
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      value_valid_i,
  input  logic                      value_start_i,
  input  logic                      value_end_i,
  input  logic [VectorLanes*32-1:0] value_i,
  input  logic                      product_valid_i,
  input  logic [SlotBits-1:0]       product_slot_i,
  input  logic                      product_block_end_i,
  input  logic [VectorLanes*32-1:0] product_i,
  input  logic [31:0]               inverse_width_i,
  input  logic [31:0]               epsilon_i,
  output logic                      block_valid_o,
  output logic [lpu_pkg::BlockValues*lpu_pkg::MantissaBits-1:0] mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0]                      offset_o,
  output logic                      scale_valid_o,
  output logic [31:0]               scale_o,
  output logic                      saturated_o
);
  logic norm_saturated;
  logic block_saturated;

  lpu_norm #(.VectorLanes(VectorLanes)) u_norm (
    .clk_i, .rst_ni, .valid_i(value_valid_i), .start_i(value_start_i), .end_i(value_end_i),
    .values_i(value_valid_i ? value_i : '0), .inverse_width_i, .epsilon_i,
    .scale_valid_o, .scale_o, .saturated_o(norm_saturated)
  );
  lpu_block_stage #(.SliceValues(VectorLanes)) u_block (
    .clk_i, .rst_ni, .valid_i(product_valid_i), .slot_i(product_slot_i), .end_i(product_block_end_i),
    .values_i(product_i), .block_valid_o, .mantissas_o, .offset_o, .saturated_o(block_saturated)
  );
  assign saturated_o = norm_saturated || block_saturated;
endmodule
