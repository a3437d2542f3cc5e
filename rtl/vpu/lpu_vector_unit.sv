// The vector unit's arithmetic: one front for all chains, and the chains (docs/isa.md, "VPU: entries"). A slice of
// VectorLanes sums enters in any cycle, with the kind of its instruction; what it makes comes out after the fixed time
// that hls/contract/latencies.hpp counts, less the write into the memory where it goes (the memories, their addresses
// and the sequencing are the core's: docs/units/vector_unit.md has the cycle of every port).
// Relies on lpu_vector_front and the lpu_chain_ modules.
module lpu_vector_unit #(
  parameter int VectorLanes = 2,
  parameter int MaxHeadBlocks = 8,
  localparam int SumBits = lpu_pkg::AccumulatorBits,
  localparam int SlotBits = 5,
  localparam int BlockBits = lpu_pkg::BlockValues * lpu_pkg::MantissaBits,
  localparam int CodeBits = lpu_pkg::KvMantissaBitsWide,
  localparam int HeadBlockBits = (MaxHeadBlocks > 1) ? $clog2(MaxHeadBlocks) : 1
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  // ---- constants of the model
  input  logic [31:0]                 inverse_width_i,
  input  logic [31:0]                 epsilon_i,
  // ---- constants of a token
  input  logic                        samples_i,             // temperature above zero
  input  logic [31:0]                 inverse_temperature_i,

  // ---- entry: a slice of rows, cycle 0
  input  logic                        entry_valid_i,
  input  logic [3:0]                  entry_kind_i,        // lpu_pkg::Opcode…, kEmbed like kResidual
  input  logic [VectorLanes-1:0]      entry_lanes_i,       // rows that are there
  input  logic [SlotBits-1:0]         entry_slot_i,        // slice in its block of 32 rows (kSwiglu: of 64)
  input  logic                        entry_block_end_i,   // its last slice
  input  logic                        entry_start_i,       // first: of a norm, of a head (kValue), of a token (kLogits)
  input  logic                        entry_end_i,         // last: likewise
  input  logic                        entry_has_bias_i,
  input  logic                        entry_wide_i,        // kKey: 12-bit codes
  input  logic [7:0]                  entry_grid_i,        // kKey, kValue: the head's grid exponent
  input  logic [19:0]                 entry_row_i,         // kLogits: id of lane 0
  input  logic [VectorLanes*SumBits-1:0]                  sum_i,
  input  logic [VectorLanes*lpu_pkg::RowExponentBits-1:0] row_exponent_i,
  input  logic [9:0]                  exponent_offset_i,   // signed: WindowLow − MinimumFractionBits, others: the page
  input  logic [31:0]                 scale_i,             // 1/rms, kMix: 1/z

  // ---- cycle 4: the next norm's gains
  input  logic [VectorLanes*32-1:0]   gain_i,
  // ---- cycle 8: biases
  input  logic [VectorLanes*32-1:0]   bias_i,
  // ---- cycle 8, with a bias 13: the pairs' angles
  input  logic [VectorLanes/2*32-1:0] cosine_i,
  input  logic [VectorLanes/2*32-1:0] sine_i,

  // ---- cycle 13: the ids' noise (lpu_gumbel)
  input  logic [VectorLanes*32-1:0]   noise_i,

  // ---- results
  output logic                        residual_valid_o,
  output logic [VectorLanes-1:0]      residual_lanes_o,
  output logic [VectorLanes*32-1:0]   residual_o,
  output logic                        norm_block_valid_o,
  output logic [BlockBits-1:0]        norm_mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0] norm_offset_o,
  output logic                        scale_valid_o,
  output logic [31:0]                 scale_o,
  output logic                        query_valid_o,
  output logic [BlockBits-1:0]        query_mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0] query_offset_o,
  output logic                        key_valid_o,
  output logic [lpu_pkg::BlockValues*CodeBits-1:0] key_codes_o,
  output logic [15:0]                 key_scale_o,
  output logic                        value_valid_o,
  output logic [HeadBlockBits-1:0]    value_block_o,
  output logic [lpu_pkg::BlockValues*lpu_pkg::KvMantissaBits-1:0] value_codes_o,
  output logic [15:0]                 value_scale_o,
  output logic                        mix_valid_o,
  output logic [BlockBits-1:0]        mix_mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0] mix_offset_o,
  output logic                        swiglu_valid_o,
  output logic [BlockBits-1:0]        swiglu_mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0] swiglu_offset_o,
  output logic                        logits_valid_o,
  output logic [VectorLanes-1:0]      logits_lanes_o,
  output logic [VectorLanes*32-1:0]   logits_o,
  output logic                        best_valid_o,
  output logic [19:0]                 best_id_o,
  output logic [31:0]                 best_logit_o,
  output logic                        sample_valid_o,
  output logic [19:0]                 sample_id_o,
  output logic [33:0]                 sample_key_o,
  output logic                        saturated_o          // any of the results on their way, a cycle after the event
);
  if (VectorLanes < 2 || VectorLanes > 32 || VectorLanes != 1 << $clog2(VectorLanes))
    $error("lpu_vector_unit: VectorLanes must be a power of two, 2 to 32");

  // ---- the front, and the control that travels beside it
  localparam int ControlBits = 4 + VectorLanes + SlotBits + 5 + 8 + 20;

  logic                      uses_gain;
  logic [VectorLanes-1:0]    value_saturated;
  logic [VectorLanes-1:0]    product_saturated;
  logic [VectorLanes*32-1:0] value;
  logic [VectorLanes*32-1:0] product;
  assign uses_gain = entry_kind_i == 4'(lpu_pkg::OpcodeResidual) || entry_kind_i == 4'(lpu_pkg::OpcodeEmbed);

  lpu_vector_front #(.VectorLanes(VectorLanes)) u_front (
    .clk_i, .valid_i(entry_valid_i), .lanes_i(entry_lanes_i), .sum_i, .row_exponent_i, .exponent_offset_i, .scale_i,
    .uses_gain_i(uses_gain), .gain_i, .value_o(value), .value_saturated_o(value_saturated),
    .product_o(product), .product_saturated_o(product_saturated)
  );

  logic                   valid_v;   // with the value
  logic                   valid_p;   // with the product
  logic [ControlBits-1:0] control_v;
  logic [ControlBits-1:0] control_p;
  lpu_delay #(.Width(1 + ControlBits), .Cycles(lpu_pkg::ConvertCycles), .HasReset(1'b1)) u_control_v (
    .clk_i, .rst_ni,
    .value_i({entry_valid_i, entry_kind_i, entry_lanes_i, entry_slot_i, entry_block_end_i, entry_start_i, entry_end_i,
              entry_has_bias_i, entry_wide_i, entry_grid_i, entry_row_i}),
    .value_o({valid_v, control_v})
  );
  lpu_delay #(.Width(1 + ControlBits), .Cycles(lpu_pkg::MultiplyCycles), .HasReset(1'b1)) u_control_p (
    .clk_i, .rst_ni, .value_i({valid_v, control_v}), .value_o({valid_p, control_p})
  );

  logic [3:0]             kind_v;
  logic [VectorLanes-1:0] lanes_v;
  logic                   start_v;
  logic                   end_v;
  logic [SlotBits:0]      unused_place_v;
  logic [29:0]            unused_rest_v;
  assign {kind_v, lanes_v, unused_place_v, start_v, end_v, unused_rest_v} = control_v;

  logic [3:0]             kind;
  logic [VectorLanes-1:0] lanes;
  logic [SlotBits-1:0]    slot;
  logic                   block_end;
  logic                   starts;
  logic                   ends;
  logic                   has_bias;
  logic                   wide;
  logic [7:0]             grid;
  logic [19:0]            row;
  assign {kind, lanes, slot, block_end, starts, ends, has_bias, wide, grid, row} = control_p;

  logic is_residual_v;
  logic is_residual;
  logic is_key;
  assign is_residual_v = kind_v == 4'(lpu_pkg::OpcodeResidual) || kind_v == 4'(lpu_pkg::OpcodeEmbed);
  assign is_residual = kind == 4'(lpu_pkg::OpcodeResidual) || kind == 4'(lpu_pkg::OpcodeEmbed);
  assign is_key = kind == 4'(lpu_pkg::OpcodeKey);

  assign residual_valid_o = valid_v && is_residual_v;
  assign residual_lanes_o = lanes_v;
  assign residual_o = value;
  assign logits_valid_o = valid_p && kind == 4'(lpu_pkg::OpcodeLogits);
  assign logits_lanes_o = lanes;
  assign logits_o = product;

  // ---- the chains
  logic residual_saturated;
  logic project_saturated;
  logic mix_saturated;
  logic swiglu_saturated;
  logic logits_saturated;
  lpu_chain_residual #(.VectorLanes(VectorLanes)) u_residual (
    .clk_i, .rst_ni, .value_valid_i(residual_valid_o), .value_start_i(start_v), .value_end_i(end_v), .value_i(value),
    .product_valid_i(valid_p && is_residual), .product_slot_i(slot), .product_block_end_i(block_end),
    .product_i(product), .inverse_width_i, .epsilon_i, .block_valid_o(norm_block_valid_o),
    .mantissas_o(norm_mantissas_o), .offset_o(norm_offset_o), .scale_valid_o, .scale_o,
    .saturated_o(residual_saturated)
  );
  lpu_chain_project #(.VectorLanes(VectorLanes), .MaxHeadBlocks(MaxHeadBlocks)) u_project (
    .clk_i, .rst_ni, .is_query_i(valid_p && kind == 4'(lpu_pkg::OpcodeQuery)), .is_key_i(valid_p && is_key),
    .is_value_i(valid_p && kind == 4'(lpu_pkg::OpcodeValue)), .has_bias_i(has_bias),
    .first_i(is_key ? slot == '0 : starts), .last_i(is_key ? block_end : ends), .slot_i(slot),
    .block_end_i(block_end), .grid_i(grid), .wide_i(wide), .product_i(product), .bias_i, .cosine_i, .sine_i,
    .query_valid_o, .query_mantissas_o, .query_offset_o, .key_valid_o, .key_codes_o, .key_scale_o, .value_valid_o,
    .value_block_o, .value_codes_o, .value_scale_o, .saturated_o(project_saturated)
  );
  lpu_chain_mix #(.VectorLanes(VectorLanes)) u_mix (
    .clk_i, .rst_ni, .valid_i(valid_p && kind == 4'(lpu_pkg::OpcodeMix)), .slot_i(slot), .block_end_i(block_end),
    .product_i(product), .block_valid_o(mix_valid_o), .mantissas_o(mix_mantissas_o), .offset_o(mix_offset_o),
    .saturated_o(mix_saturated)
  );
  lpu_chain_swiglu #(.VectorLanes(VectorLanes)) u_swiglu (
    .clk_i, .rst_ni, .valid_i(valid_p && kind == 4'(lpu_pkg::OpcodeSwiglu)), .slot_i(slot), .block_end_i(block_end),
    .product_i(product), .block_valid_o(swiglu_valid_o), .mantissas_o(swiglu_mantissas_o), .offset_o(swiglu_offset_o),
    .saturated_o(swiglu_saturated)
  );
  lpu_chain_logits #(.VectorLanes(VectorLanes)) u_logits (
    .clk_i, .rst_ni, .valid_i(logits_valid_o), .start_i(starts), .end_i(ends), .lanes_i(lanes), .row_i(row),
    .product_i(product), .samples_i, .inverse_temperature_i, .noise_i, .best_valid_o, .best_id_o, .best_logit_o,
    .sample_valid_o, .sample_id_o, .sample_key_o, .saturated_o(logits_saturated)
  );

  always_ff @(posedge clk_i) begin
    saturated_o <= rst_ni && ((valid_v && value_saturated != '0) || (valid_p && product_saturated != '0) ||
                              residual_saturated || project_saturated || mix_saturated || swiglu_saturated ||
                              logits_saturated);
  end

  logic unused_control;
  assign unused_control = ^{unused_place_v, unused_rest_v};
endmodule
