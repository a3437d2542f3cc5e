// The vector processor whole: instructions in, everything that they write out (docs/isa.md, "VPU: entries").
// Joins lpu_vector_issue (when which slice enters, and where its results go), lpu_embed_fetch (kEmbed's values),
// lpu_vector_operands, lpu_vector_unit (the arithmetic), lpu_noise_queue and lpu_vector_results. It holds no memory of
// the core's: accumulators, constants, banks, residual and lanes' words are at its ports, each read with a fixed
// latency. Cycle of every port: docs/units/vpu.md; e is a slice's entry, t an instruction's issue.
module lpu_vpu #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  parameter int AccumulatorEntries = 16,
  parameter int ActivationBlocks = 16,
  parameter int MaxHeadBlocks = 8,
  localparam int WordBits = lpu_mvu_pkg::WordBits,
  localparam int MinimumBits = lpu_mvu_pkg::MinimumBits,
  localparam int BlockBits = lpu_mvu_pkg::BlockBits,
  localparam int SumBits = lpu_pkg::AccumulatorBits,
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1,
  localparam int EntryBits = $clog2(AccumulatorEntries),
  localparam int Slices = Lanes / VectorLanes,
  localparam int SliceBits = (Slices > 1) ? $clog2(Slices) : 1,
  localparam int LaneBits = $clog2(Lanes),
  localparam int HeadBlockBits = (MaxHeadBlocks > 1) ? $clog2(MaxHeadBlocks) : 1
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,

  // ---- an instruction, in t − 8
  input  logic                                      vpu_valid_i,
  input  logic [lpu_pkg::InstructionBits-1:0]       vpu_instruction_i,
  input  logic [15:0]                               vpu_iteration_i,

  // ---- the token: new values from its first cycle on, in which token_start_i is high
  input  logic                                      token_start_i,
  input  logic [23:0]                               token_early_i,          // already three cycles before it
  input  logic [15:0]                               position_i,
  input  logic                                      samples_i,
  input  logic [31:0]                               inverse_temperature_i,
  input  logic [63:0]                               seed_i,
  // ---- the model
  input  logic [31:0]                               inverse_width_i,
  input  logic [31:0]                               epsilon_i,
  input  logic [19:0]                               first_logit_row_i,

  // ---- memories of constants: data three cycles after the request
  output logic                                      exponent_read_o,        // e − 3; kEmbed: t
  output logic [23:0]                               exponent_address_o,
  input  logic [Lanes*8-1:0]                        exponent_word_i,
  output logic                                      grid_read_o,            // e − 3
  output logic [23:0]                               grid_address_o,
  input  logic [Lanes*8-1:0]                        grid_word_i,
  output logic                                      gain_read_o,            // e + 1
  output logic [26:0]                               gain_address_o,
  input  logic [VectorLanes*32-1:0]                 gain_i,
  output logic                                      bias_read_o,            // e + 5
  output logic [26:0]                               bias_address_o,
  input  logic [VectorLanes*32-1:0]                 bias_i,
  output logic                                      rope_read_o,            // e + 5, with a bias e + 10
  output logic [25:0]                               rope_pair_o,
  input  logic [VectorLanes/2*32-1:0]               cosine_i,
  input  logic [VectorLanes/2*32-1:0]               sine_i,
  // ---- accumulators: requested in e − 2, there in e
  output logic [ColumnGroups-1:0]                   accumulator_read_o,     // one segment
  output logic [EntryBits-1:0]                      accumulator_entry_o,
  output logic [SliceBits-1:0]                      accumulator_slice_o,
  input  logic [VectorLanes*SumBits-1:0]            sums_i,
  // ---- lane memory, on the matrix unit's port: words three cycles after the request
  output logic                                      embed_read_o,           // t + c·pitch + n
  output logic [23:0]                               embed_address_o,
  output logic                                      embed_minimum_read_o,
  output logic [23:0]                               embed_minimum_address_o,
  input  logic [ColumnGroups*Lanes*WordBits-1:0]    words_i,
  input  logic [ColumnGroups*Lanes*MinimumBits-1:0] minimums_i,
  // ---- round registers: asked and answered in e
  output logic [5:0]                                round_o,
  output logic [GroupBits-1:0]                      segment_o,
  input  logic [5:0]                                difference_i,           // E − N
  input  logic [31:0]                               inverse_i,              // 1/z

  // ---- writes, in the cycle before they are readable
  output logic [ColumnGroups-1:0]                   block_write_o,
  output logic [ColumnGroups*16-1:0]                block_address_o,
  output logic [ColumnGroups*BlockBits-1:0]         block_o,
  output logic [VectorLanes-1:0]                    residual_lanes_o,       // zero: no write
  output logic [19:0]                               residual_row_o,
  output logic [VectorLanes*32-1:0]                 residual_values_o,
  output logic                                      scale_write_o,          // to watch: the register is in here
  output logic                                      scale_register_o,
  output logic [31:0]                               scale_o,
  // ---- lpu_kv_writer
  output logic                                      key_valid_o,            // e + 35, with a bias e + 40
  output logic [lpu_pkg::BlockValues*lpu_pkg::KvMantissaBitsWide-1:0] key_codes_o,
  output logic [15:0]                               key_scale_o,
  output logic [GroupBits-1:0]                      key_group_o,
  output logic [23:0]                               key_address_o,
  output logic [1:0]                                key_nibbles_o,
  output logic                                      value_early_o,          // e + 24, with a bias e + 29
  output logic [GroupBits-1:0]                      value_group_o,
  output logic [23:0]                               value_address_o,
  output logic [19:0]                               value_row_step_o,
  output logic [GroupBits-1:0]                      value_key_group_o,
  output logic [23:0]                               value_key_address_o,
  output logic [3:0]                                value_head_blocks_o,
  output logic                                      value_valid_o,          // e + 26 + b, with a bias e + 31 + b
  output logic [HeadBlockBits-1:0]                  value_block_o,          // b
  output logic [lpu_pkg::BlockValues*lpu_pkg::KvMantissaBits-1:0] value_codes_o,
  output logic [15:0]                               value_scale_o,
  // ---- head
  output logic                                      logits_valid_o,         // e + 8
  output logic [19:0]                               logits_row_o,
  output logic [VectorLanes-1:0]                    logits_lanes_o,
  output logic [VectorLanes*32-1:0]                 logits_o,
  output logic                                      next_valid_o,           // from e + 21 on, until a token starts
  output logic [23:0]                               next_token_o,
  output logic                                      next_write_o,           // e + 21: a new choice
  // ---- token
  output logic                                      saturated_o,
  output logic                                      landed_o,
  output logic [7:0]                                error_o
);
  localparam int NoiseStage = 12;  // a slice's noise is taken, and enters the cycle after

  // ---- when which slice enters
  logic                   issue_error;
  logic                   row_exponent_read;
  logic [23:0]            row_exponent_address;
  logic                   entry_valid;
  logic [3:0]             entry_kind;
  logic [VectorLanes-1:0] entry_lanes;
  logic [4:0]             entry_slot;
  logic                   entry_block_end;
  logic                   entry_start;
  logic                   entry_end;
  logic                   entry_has_bias;
  logic                   entry_wide;
  logic [19:0]            entry_row;
  logic                   embed_select;
  logic [SliceBits-1:0]   exponent_slice;
  logic [LaneBits-1:0]    grid_lane;
  logic                   entry_scale_register;
  logic [GroupBits-1:0]   tag_bank;
  logic [23:0]            tag_address;
  logic [1:0]             tag_nibbles;
  logic [19:0]            tag_row_step;
  logic [GroupBits-1:0]   tag_key_group;
  logic [23:0]            tag_key_address;
  logic [3:0]             tag_head_blocks;
  logic [19:0]            tag_residual_row;
  lpu_vector_issue #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes), .AccumulatorEntries(AccumulatorEntries)
  ) u_issue (
    .clk_i, .rst_ni, .vpu_valid_i, .vpu_instruction_i, .vpu_iteration_i, .position_i, .logits_start_i(token_start_i),
    .error_o(issue_error), .exponent_read_o(row_exponent_read), .exponent_address_o(row_exponent_address),
    .grid_read_o, .grid_address_o, .accumulator_read_o, .accumulator_entry_o, .accumulator_slice_o,
    .entry_valid_o(entry_valid), .entry_kind_o(entry_kind), .entry_lanes_o(entry_lanes), .entry_slot_o(entry_slot),
    .entry_block_end_o(entry_block_end), .entry_start_o(entry_start), .entry_end_o(entry_end),
    .entry_has_bias_o(entry_has_bias), .entry_wide_o(entry_wide), .entry_row_o(entry_row),
    .embed_select_o(embed_select), .exponent_slice_o(exponent_slice), .grid_lane_o(grid_lane),
    .scale_register_o(entry_scale_register), .round_o, .segment_o, .tag_bank_o(tag_bank),
    .tag_address_o(tag_address), .tag_nibbles_o(tag_nibbles), .tag_row_step_o(tag_row_step),
    .tag_key_group_o(tag_key_group), .tag_key_address_o(tag_key_address), .tag_head_blocks_o(tag_head_blocks),
    .tag_residual_row_o(tag_residual_row), .gain_read_o, .gain_address_o, .bias_read_o, .bias_address_o, .rope_read_o,
    .rope_pair_o
  );

  // ---- kEmbed's values; its exponent comes on the rows' port, in a cycle in which no slice wants one
  logic                           embed_exponent_read;
  logic [23:0]                    embed_exponent_address;
  logic [VectorLanes*SumBits-1:0] embed_sum;
  logic [7:0]                     embed_row_exponent;
  lpu_embed_fetch #(.Lanes(Lanes), .ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes)) u_embed (
    .clk_i, .rst_ni, .valid_i(vpu_valid_i), .instruction_i(vpu_instruction_i), .iteration_i(vpu_iteration_i),
    .token_i(token_early_i), .embed_read_o, .embed_address_o, .embed_minimum_read_o, .embed_minimum_address_o,
    .words_i, .minimums_i, .exponent_read_o(embed_exponent_read), .exponent_address_o(embed_exponent_address),
    .exponent_word_i, .embed_sum_o(embed_sum), .embed_row_exponent_o(embed_row_exponent)
  );
  assign exponent_read_o = row_exponent_read || embed_exponent_read;
  assign exponent_address_o = embed_exponent_read ? embed_exponent_address : row_exponent_address;

  // ---- what enters
  logic [63:0]                    scales;
  logic [VectorLanes*SumBits-1:0] sum;
  logic [VectorLanes*8-1:0]       row_exponent;
  logic [9:0]                     exponent_offset;
  logic [7:0]                     entry_grid;
  logic [31:0]                    scale;
  lpu_vector_operands #(.Lanes(Lanes), .VectorLanes(VectorLanes)) u_operands (
    .kind_i(entry_kind), .embed_select_i(embed_select), .exponent_slice_i(exponent_slice), .grid_lane_i(grid_lane),
    .scale_register_i(entry_scale_register), .sums_i, .embed_sum_i(embed_sum),
    .embed_row_exponent_i(embed_row_exponent), .exponent_word_i, .grid_word_i, .scales_i(scales), .difference_i,
    .inverse_i, .sum_o(sum), .row_exponent_o(row_exponent), .exponent_offset_o(exponent_offset), .grid_o(entry_grid),
    .scale_o(scale)
  );

  // ---- noise, a cycle before the logits need it
  logic                      takes_noise;
  logic [19:0]               noise_row;
  logic                      noise_wrong;
  logic [VectorLanes*32-1:0] noise;
  lpu_delay #(.Cycles(NoiseStage), .HasReset(1'b1)) u_takes_noise (
    .clk_i, .rst_ni, .value_i(entry_valid && samples_i && entry_kind == 4'(lpu_pkg::OpcodeLogits)),
    .value_o(takes_noise)
  );
  lpu_delay #(.Width(20), .Cycles(NoiseStage)) u_noise_row (
    .clk_i, .rst_ni(1'b1), .value_i(entry_row), .value_o(noise_row)
  );
  lpu_noise_queue #(.VectorLanes(VectorLanes)) u_noise (
    .clk_i, .rst_ni, .token_start_i, .samples_i, .seed_i, .position_i, .first_row_i(first_logit_row_i),
    .take_i(takes_noise), .take_row_i(noise_row), .noise_o(noise), .wrong_o(noise_wrong)
  );

  // ---- arithmetic
  localparam int MantissasBits = lpu_mvu_pkg::BlockMantissasBits;
  localparam int OffsetBits = lpu_pkg::ExponentBits;
  logic                     residual_valid, norm_block_valid, scale_valid, query_valid, mix_valid, swiglu_valid;
  logic [VectorLanes-1:0]   residual_lanes;
  logic [MantissasBits-1:0] norm_mantissas, query_mantissas, mix_mantissas, swiglu_mantissas;
  logic [OffsetBits-1:0]    norm_offset, query_offset, mix_offset, swiglu_offset;
  logic [31:0]              norm_scale;
  logic                     best_valid, sample_valid, saturated;
  logic [19:0]              best_id, sample_id;
  logic [31:0]              unused_best_logit;
  logic [33:0]              unused_sample_key;
  lpu_vector_unit #(.VectorLanes(VectorLanes), .MaxHeadBlocks(MaxHeadBlocks)) u_unit (
    .clk_i, .rst_ni, .inverse_width_i, .epsilon_i, .samples_i, .inverse_temperature_i, .entry_valid_i(entry_valid),
    .entry_kind_i(entry_kind), .entry_lanes_i(entry_lanes), .entry_slot_i(entry_slot),
    .entry_block_end_i(entry_block_end), .entry_start_i(entry_start), .entry_end_i(entry_end),
    .entry_has_bias_i(entry_has_bias), .entry_wide_i(entry_wide), .entry_grid_i(entry_grid), .entry_row_i(entry_row),
    .sum_i(sum), .row_exponent_i(row_exponent), .exponent_offset_i(exponent_offset), .scale_i(scale), .gain_i, .bias_i,
    .cosine_i, .sine_i, .noise_i(noise), .residual_valid_o(residual_valid), .residual_lanes_o(residual_lanes),
    .residual_o(residual_values_o), .norm_block_valid_o(norm_block_valid), .norm_mantissas_o(norm_mantissas),
    .norm_offset_o(norm_offset), .scale_valid_o(scale_valid), .scale_o(norm_scale), .query_valid_o(query_valid),
    .query_mantissas_o(query_mantissas), .query_offset_o(query_offset), .key_valid_o, .key_codes_o, .key_scale_o,
    .value_valid_o, .value_block_o, .value_codes_o, .value_scale_o, .mix_valid_o(mix_valid),
    .mix_mantissas_o(mix_mantissas), .mix_offset_o(mix_offset), .swiglu_valid_o(swiglu_valid),
    .swiglu_mantissas_o(swiglu_mantissas), .swiglu_offset_o(swiglu_offset), .logits_valid_o, .logits_lanes_o,
    .logits_o, .best_valid_o(best_valid), .best_id_o(best_id), .best_logit_o(unused_best_logit),
    .sample_valid_o(sample_valid), .sample_id_o(sample_id), .sample_key_o(unused_sample_key), .saturated_o(saturated)
  );
  assign residual_lanes_o = residual_valid ? residual_lanes : '0;

  // ---- where results go
  logic [7:0] results_error;
  lpu_vector_results #(.ColumnGroups(ColumnGroups), .ActivationBlocks(ActivationBlocks)) u_results (
    .clk_i, .rst_ni, .token_start_i, .samples_i, .entry_valid_i(entry_valid), .entry_kind_i(entry_kind),
    .entry_end_i(entry_end), .entry_has_bias_i(entry_has_bias), .entry_row_i(entry_row),
    .scale_register_i(entry_scale_register), .tag_bank_i(tag_bank), .tag_address_i(tag_address),
    .tag_nibbles_i(tag_nibbles), .tag_row_step_i(tag_row_step), .tag_key_group_i(tag_key_group),
    .tag_key_address_i(tag_key_address), .tag_head_blocks_i(tag_head_blocks), .tag_residual_row_i(tag_residual_row),
    .residual_valid_i(residual_valid), .norm_block_valid_i(norm_block_valid), .norm_mantissas_i(norm_mantissas),
    .norm_offset_i(norm_offset), .scale_valid_i(scale_valid), .scale_i(norm_scale), .query_valid_i(query_valid),
    .query_mantissas_i(query_mantissas), .query_offset_i(query_offset), .mix_valid_i(mix_valid),
    .mix_mantissas_i(mix_mantissas), .mix_offset_i(mix_offset), .swiglu_valid_i(swiglu_valid),
    .swiglu_mantissas_i(swiglu_mantissas), .swiglu_offset_i(swiglu_offset), .best_valid_i(best_valid),
    .best_id_i(best_id), .sample_valid_i(sample_valid), .sample_id_i(sample_id), .saturated_i(saturated),
    .noise_wrong_i(noise_wrong), .block_write_o, .block_address_o, .block_o, .residual_row_o, .scales_o(scales),
    .scale_write_o, .scale_register_o, .scale_o, .key_group_o, .key_address_o, .key_nibbles_o, .value_early_o,
    .value_group_o, .value_address_o, .value_row_step_o, .value_key_group_o, .value_key_address_o,
    .value_head_blocks_o, .logits_row_o, .next_valid_o, .next_token_o, .next_write_o, .saturated_o, .landed_o,
    .error_o(results_error)
  );
  assign error_o = issue_error ? 8'(lpu_pkg::ErrorBusy) : results_error;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && !issue_error)
      assert (!(row_exponent_read && embed_exponent_read)) else $error("%m: two exponent words in one cycle");
  end
`endif

  logic unused;
  assign unused = ^{unused_best_logit, unused_sample_key};
endmodule
