// Query, key and value behind the front (docs/isa.md, kQuery, kKey, kValue; docs/numbers.md §7, §8): the product
// (× 1/rms) with its bias or without, rotated by the position's angles (not V), then quantised (query) or fitted (key,
// value). A bias takes AddCycles more: slices with and without one share what follows, so the schedule must not let
// them meet (the assertion below). After the product, without a bias: query block RotaryCycles + QuantiseCycles, key
// codes RotaryCycles + FitCycles, value codes FitCycles after the last slice.
// Relies on lpu_add, lpu_multiply, lpu_block_stage, lpu_fit.
module lpu_chain_project #(
  parameter int VectorLanes = 2,
  parameter int MaxHeadBlocks = 8,
  localparam int SlotBits = 5,
  localparam int CodeBits = lpu_pkg::KvMantissaBitsWide,
  localparam int HeadBlockBits = (MaxHeadBlocks > 1) ? $clog2(MaxHeadBlocks) : 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // the product's slice
  input  logic                      is_query_i,
  input  logic                      is_key_i,
  input  logic                      is_value_i,
  input  logic                      has_bias_i,
  input  logic                      first_i,      // of the fitted group: K's block, V's head
  input  logic                      last_i,
  input  logic [SlotBits-1:0]       slot_i,
  input  logic                      block_end_i,
  input  logic [7:0]                grid_i,
  input  logic                      wide_i,
  input  logic [VectorLanes*32-1:0] product_i,
  input  logic [VectorLanes*32-1:0] bias_i,
  // with the product, or AddCycles after it where it has a bias
  input  logic [VectorLanes/2*32-1:0] cosine_i,
  input  logic [VectorLanes/2*32-1:0] sine_i,
  output logic                      query_valid_o,
  output logic [lpu_pkg::BlockValues*lpu_pkg::MantissaBits-1:0] query_mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0]                      query_offset_o,
  output logic                      key_valid_o,
  output logic [lpu_pkg::BlockValues*CodeBits-1:0] key_codes_o,
  output logic [15:0]               key_scale_o,
  output logic                      value_valid_o,
  output logic [HeadBlockBits-1:0]  value_block_o,
  output logic [lpu_pkg::BlockValues*lpu_pkg::KvMantissaBits-1:0] value_codes_o,
  output logic [15:0]               value_scale_o,
  output logic                      saturated_o
);
  localparam int Pairs = VectorLanes / 2;
  localparam int ControlBits = 3 + 2 + SlotBits + 1 + 8 + 1;

  if (VectorLanes % 2 != 0) $error("lpu_chain_project: VectorLanes must be even");

  // ---- bias
  logic                      is_any;
  logic [VectorLanes*32-1:0] biased;
  logic [VectorLanes-1:0]    biased_saturated;
  logic                      biased_valid;
  logic [ControlBits-1:0]    control_in;
  logic [ControlBits-1:0]    control_biased;
  assign is_any = is_query_i || is_key_i || is_value_i;
  assign control_in = {is_query_i, is_key_i, is_value_i, first_i, last_i, slot_i, block_end_i, grid_i, wide_i};
  lpu_add #(.Lanes(VectorLanes)) u_bias (
    .clk_i, .a_i(product_i), .b_i(bias_i), .result_o(biased), .saturated_o(biased_saturated)
  );
  lpu_delay #(.Width(1 + ControlBits), .Cycles(lpu_pkg::AddCycles), .HasReset(1'b1)) u_bias_control (
    .clk_i, .rst_ni, .value_i({is_any && has_bias_i, control_in}), .value_o({biased_valid, control_biased})
  );

  // ---- what both kinds share
  logic [VectorLanes*32-1:0] values;
  logic                      valid;
  logic                      is_query;
  logic                      is_key;
  logic                      is_value;
  logic                      first;
  logic                      last;
  logic [SlotBits-1:0]       slot;
  logic                      block_end;
  logic [7:0]                grid;
  logic                      wide;
  assign valid = biased_valid || (is_any && !has_bias_i);
  assign values = biased_valid ? biased : product_i;
  assign {is_query, is_key, is_value, first, last, slot, block_end, grid, wide} =
      biased_valid ? control_biased : control_in;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    // A slice without a bias meets one with a bias that came AddCycles before.
    if (rst_ni) assert (!(biased_valid && is_any && !has_bias_i));
  end
`endif

  // ---- rotation of pairs
  logic [VectorLanes*32-1:0] factor_a;   // even and odd rows × cosine
  logic [VectorLanes*32-1:0] factor_b;   // odd rows × sine, even rows × sine
  logic [VectorLanes*32-1:0] cosines;
  logic [VectorLanes*32-1:0] sines;
  logic [VectorLanes*32-1:0] swapped;
  logic [VectorLanes*32-1:0] subtrahend;
  logic [VectorLanes*32-1:0] rotated;
  logic [VectorLanes-1:0]    factor_a_saturated;
  logic [VectorLanes-1:0]    factor_b_saturated;
  logic [VectorLanes-1:0]    rotated_saturated;
  always_comb begin
    for (int p = 0; p < Pairs; p++) begin
      cosines[2*p*32+:64] = {2{cosine_i[p*32+:32]}};
      sines[2*p*32+:64] = {2{sine_i[p*32+:32]}};
      swapped[2*p*32+:64] = {values[2*p*32+:32], values[(2*p+1)*32+:32]};
      // even' = even·cosine − odd·sine, odd' = odd·cosine + even·sine
      subtrahend[2*p*32+:64] = {factor_b[(2*p+1)*32+:32], ~factor_b[2*p*32+31], factor_b[2*p*32+:31]};
    end
  end
  lpu_multiply #(.Lanes(VectorLanes)) u_factor_a (
    .clk_i, .a_i(values), .b_i(cosines), .result_o(factor_a), .saturated_o(factor_a_saturated)
  );
  lpu_multiply #(.Lanes(VectorLanes)) u_factor_b (
    .clk_i, .a_i(swapped), .b_i(sines), .result_o(factor_b), .saturated_o(factor_b_saturated)
  );
  lpu_add #(.Lanes(VectorLanes)) u_rotated (
    .clk_i, .a_i(factor_a), .b_i(subtrahend), .result_o(rotated), .saturated_o(rotated_saturated)
  );

  logic                rotates_m;  // with the products
  logic                query_r;    // with the rotated values
  logic                key_r;
  logic                first_r;
  logic                last_r;
  logic [SlotBits-1:0] slot_r;
  logic                block_end_r;
  logic [7:0]          grid_r;
  logic                wide_r;
  lpu_delay #(.Cycles(lpu_pkg::MultiplyCycles), .HasReset(1'b1)) u_rotates (
    .clk_i, .rst_ni, .value_i(valid && !is_value), .value_o(rotates_m)
  );
  lpu_delay #(.Width(ControlBits - 1), .Cycles(lpu_pkg::RotaryCycles), .HasReset(1'b1)) u_control (
    .clk_i, .rst_ni,
    .value_i({valid && is_query, valid && is_key, first, last, slot, block_end, grid, wide}),
    .value_o({query_r, key_r, first_r, last_r, slot_r, block_end_r, grid_r, wide_r})
  );

  // ---- the three ends
  logic query_saturated;
  logic key_saturated;
  logic value_saturated;
  logic unused_key_block;
  lpu_block_stage #(.SliceValues(VectorLanes)) u_query (
    .clk_i, .rst_ni, .valid_i(query_r), .slot_i(slot_r), .end_i(block_end_r), .values_i(rotated),
    .block_valid_o(query_valid_o), .mantissas_o(query_mantissas_o), .offset_o(query_offset_o),
    .saturated_o(query_saturated)
  );
  lpu_fit #(.VectorLanes(VectorLanes), .MaxBlocks(1)) u_key (
    .clk_i, .rst_ni, .valid_i(key_r), .first_i(first_r), .last_i(last_r), .slot_i(slot_r), .block_end_i(block_end_r),
    .values_i(rotated), .grid_i(grid_r), .wide_i(wide_r), .codes_valid_o(key_valid_o), .block_o(unused_key_block),
    .codes_o(key_codes_o), .scale_o(key_scale_o), .saturated_o(key_saturated)
  );
  logic [lpu_pkg::BlockValues*CodeBits-1:0] value_codes;
  lpu_fit #(.VectorLanes(VectorLanes), .MaxBlocks(MaxHeadBlocks)) u_value (
    .clk_i, .rst_ni, .valid_i(valid && is_value), .first_i(first), .last_i(last), .slot_i(slot),
    .block_end_i(block_end), .values_i(values), .grid_i(grid), .wide_i(1'b0), .codes_valid_o(value_valid_o),
    .block_o(value_block_o), .codes_o(value_codes), .scale_o(value_scale_o), .saturated_o(value_saturated)
  );
  always_comb begin
    for (int j = 0; j < lpu_pkg::BlockValues; j++) begin
      value_codes_o[j*lpu_pkg::KvMantissaBits+:lpu_pkg::KvMantissaBits] =
          value_codes[j*CodeBits+:lpu_pkg::KvMantissaBits];
    end
  end

  assign saturated_o = (biased_valid && biased_saturated != '0) ||
                       (rotates_m && (factor_a_saturated != '0 || factor_b_saturated != '0)) ||
                       ((query_r || key_r) && rotated_saturated != '0) ||
                       query_saturated || key_saturated || value_saturated;
endmodule
