// The language processing unit of one card: everything between the host port and the chosen token (docs/one_token.md).
//
//   host port ─ loads, commands ─► sequencer ─ instructions, each at its cycle ─► MVU, VPU, SMX
//   lane memories ─► MVU ─ sums ─► VPU, SMX ─ blocks, K, V, residual ─► memories ─► MVU … ─ next token ─► sequencer
//
// Once a program is loaded and a command is there it needs no host. Units don't handshake: each result has its cycle,
// and a program that breaks docs/isa.md is stopped with an error code. Parameters: one of lpu_pkg's configurations.
// The monitor_ outputs show every write in the cycle before it can be read, so that a simulator may compare each with
// the golden card's; a board leaves them open and synthesis drops what makes them.
// Long because it joins every unit's ports by name, and does little else.
module lpu_core #(
  parameter int Lanes = lpu_pkg::TinyLanes,
  parameter int ColumnGroups = lpu_pkg::TinyColumnGroups,
  parameter int VectorLanes = lpu_pkg::TinyVectorLanes,
  parameter int SoftmaxLanes = lpu_pkg::TinySoftmaxLanes,
  parameter int HasMinimum = lpu_pkg::TinyHasMinimum,
  parameter int LaneWords = lpu_pkg::TinyLaneWords,
  parameter int MinimumWords = lpu_pkg::TinyMinimumWords,
  parameter int AccumulatorEntries = lpu_pkg::TinyAccumulatorEntries,
  parameter int ActivationBlocks = lpu_pkg::TinyActivationBlocks,
  parameter int ResidualValues = lpu_pkg::TinyResidualValues,
  parameter int ExponentWords = lpu_pkg::TinyExponentWords,
  parameter int ConstantValues = lpu_pkg::TinyConstantValues,
  parameter int RopePairs = lpu_pkg::TinyRopePairs,
  parameter int ProgramInstructions = lpu_pkg::TinyProgramInstructions,
  parameter int DelayEntries = lpu_pkg::TinyDelayEntries,
  localparam int WordBits = lpu_mvu_pkg::WordBits,
  localparam int MinimumBits = lpu_mvu_pkg::MinimumBits,
  localparam int BlockBits = lpu_mvu_pkg::BlockBits,
  localparam int ExponentBits = lpu_mvu_pkg::BlockExponentBits,
  localparam int DifferenceBits = 6,
  localparam int SumBits = lpu_pkg::AccumulatorBits
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  // ---- host port: docs/units/host_port.md
  input  logic                                   host_write_i,
  input  logic                                   host_read_i,
  input  logic [39:0]                            host_address_i,
  input  logic [31:0]                            host_data_i,
  output logic                                   host_valid_o,
  output logic [31:0]                            host_data_o,
  // ---- for lockstep
  output logic                                   monitor_token_start_o,
  output logic                                   monitor_mvu_issue_o,        // in the issue cycle: run of the token
  output logic [19:0]                            monitor_mvu_index_o,
  output logic                                   monitor_vpu_issue_o,
  output logic [19:0]                            monitor_vpu_index_o,
  output logic                                   monitor_smx_issue_o,
  output logic [19:0]                            monitor_smx_index_o,
  output logic                                   monitor_beat_o,
  output logic [ColumnGroups-1:0]                monitor_block_write_o,      // by bank
  output logic [ColumnGroups*16-1:0]             monitor_block_address_o,
  output logic [ColumnGroups*BlockBits-1:0]      monitor_blocks_o,
  output logic [ColumnGroups*Lanes-1:0]          monitor_word_write_o,       // K and V: [group][lane]
  output logic [ColumnGroups*24-1:0]             monitor_word_address_o,
  output logic [ColumnGroups*Lanes*WordBits-1:0] monitor_words_o,
  output logic [VectorLanes-1:0]                 monitor_residual_lanes_o,
  output logic [19:0]                            monitor_residual_row_o,
  output logic [VectorLanes*32-1:0]              monitor_residual_o,
  output logic                                   monitor_scale_write_o,
  output logic                                   monitor_scale_register_o,
  output logic [31:0]                            monitor_scale_o,
  output logic                                   monitor_round_write_o,
  output logic [5:0]                             monitor_round_o,
  output logic [ColumnGroups*ExponentBits-1:0]   monitor_exponents_o,        // E by segment
  output logic [ColumnGroups*DifferenceBits-1:0] monitor_differences_o,      // E − N
  output logic                                   monitor_inverse_write_o,    // in the cycle in which it can be read
  output logic [5:0]                             monitor_inverse_round_o,
  output logic [ColumnGroups*32-1:0]             monitor_inverses_o,
  output logic [ColumnGroups-1:0]                monitor_sum_write_o,        // by segment
  output logic [11:0]                            monitor_sum_entry_o,
  output logic [ColumnGroups*Lanes*SumBits-1:0]  monitor_sums_o,             // [segment][lower, upper half][lane]
  output logic                                   monitor_logits_valid_o,
  output logic [19:0]                            monitor_logits_row_o,
  output logic [VectorLanes-1:0]                 monitor_logits_lanes_o,
  output logic [VectorLanes*32-1:0]              monitor_logits_o,
  output logic                                   monitor_next_write_o,       // a choice, LogitCycles − 3 after its logits
  output logic [23:0]                            monitor_next_o
);
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1;
  localparam int EntryBits = $clog2(AccumulatorEntries);
  localparam int VectorSliceBits = (Lanes > VectorLanes) ? $clog2(Lanes / VectorLanes) : 1;
  localparam int SoftmaxSliceBits = (Lanes > SoftmaxLanes) ? $clog2(Lanes / SoftmaxLanes) : 1;
  localparam int LaneBits = $clog2(Lanes);
  localparam int ByteBits = lpu_pkg::RowExponentBits;
  localparam int MaxHeadBlocks = 8;
  localparam int HeadBlockBits = $clog2(MaxHeadBlocks);

  if (Lanes > 64) begin : gen_check_lanes
    $error("lpu_core: V's codes come in time for up to 64 lanes");
  end

  // ---- host port
  logic [19:0] width, first_logit_row;
  logic [31:0] inverse_width, epsilon;
  logic [15:0] loops, length_steps;
  logic [23:0] cycles_with_head, cycles_without_head;
  logic command_valid, command_take, command_with_head, command_samples;
  logic [23:0] command_token;
  logic [15:0] command_position, command_follow;
  logic [31:0] command_inverse_temperature;
  logic [63:0] command_seed;
  logic result_push, result_with_head, result_saturated, busy, halt, soft_reset;
  logic [23:0] result_next;
  logic [15:0] result_position;
  logic [31:0] result_cycles, result_busy_beats;
  logic [23:0] token_next;
  logic [15:0] token_position;
  logic token_with_head;
  logic [7:0] error;
  logic [19:0] error_index;
  logic [ColumnGroups*Lanes-1:0] load_word_write, load_minimum_write;
  logic [ColumnGroups*24-1:0] load_word_address;
  logic [ColumnGroups*Lanes*WordBits-1:0] load_words;
  logic [23:0] load_minimum_address, load_exponent_address, load_address;
  logic [ColumnGroups*Lanes*MinimumBits-1:0] load_minimums;
  logic load_exponent_write, load_constant_write, load_rope_write, load_instruction, load_loop, load_delay;
  logic [Lanes*ByteBits-1:0] load_exponent_word;
  logic [26:0] load_constant_address;
  logic [VectorLanes*32-1:0] load_constant_values, load_rope_pairs;
  logic [25:0] load_rope_pair;
  logic [lpu_pkg::InstructionBits-1:0] load_data;
  lpu_host_port #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes), .LaneWords(LaneWords),
    .MinimumWords(MinimumWords), .ExponentWords(ExponentWords), .ConstantValues(ConstantValues),
    .RopePairs(RopePairs), .ProgramInstructions(ProgramInstructions), .DelayEntries(DelayEntries)
  ) u_host_port (
    .clk_i, .rst_ni, .host_write_i, .host_read_i, .host_address_i, .host_data_i, .host_valid_o, .host_data_o,
    .width_o(width), .inverse_width_o(inverse_width), .epsilon_o(epsilon), .head_size_o(), .loops_o(loops),
    .length_steps_o(length_steps), .cycles_with_head_o(cycles_with_head),
    .cycles_without_head_o(cycles_without_head), .vocabulary_o(), .first_logit_row_o(first_logit_row),
    .context_tokens_o(), .command_valid_o(command_valid), .command_take_i(command_take),
    .command_token_o(command_token), .command_position_o(command_position), .command_with_head_o(command_with_head),
    .command_samples_o(command_samples), .command_inverse_temperature_o(command_inverse_temperature),
    .command_seed_o(command_seed), .command_follow_o(command_follow), .result_push_i(result_push),
    .result_next_i(result_next), .result_cycles_i(result_cycles), .result_busy_beats_i(result_busy_beats),
    .result_with_head_i(result_with_head), .result_saturated_i(result_saturated),
    .result_position_i(result_position),
    .busy_i(busy), .error_i(error), .error_index_i(error_index), .halt_o(halt), .soft_reset_o(soft_reset),
    .load_word_write_o(load_word_write), .load_word_address_o(load_word_address), .load_words_o(load_words),
    .load_minimum_write_o(load_minimum_write), .load_minimum_address_o(load_minimum_address),
    .load_minimum_words_o(load_minimums), .load_exponent_write_o(load_exponent_write),
    .load_exponent_address_o(load_exponent_address), .load_exponent_word_o(load_exponent_word),
    .load_constant_write_o(load_constant_write), .load_constant_address_o(load_constant_address),
    .load_constant_values_o(load_constant_values), .load_rope_write_o(load_rope_write),
    .load_rope_pair_o(load_rope_pair), .load_rope_pairs_o(load_rope_pairs), .load_instruction_o(load_instruction),
    .load_loop_o(load_loop), .load_delay_o(load_delay), .load_address_o(load_address), .load_data_o(load_data)
  );
  logic run_n;  // everything but the host port and what the memories hold
  assign run_n = rst_ni && !soft_reset;

  // ---- sequencer
  logic next_valid, next_write, mvu_valid, vpu_valid, smx_valid, token_start, token_end, samples;
  logic [23:0] next_token, token_early;
  logic [lpu_pkg::InstructionBits-1:0] mvu_instruction, vpu_instruction, smx_instruction;
  logic [15:0] mvu_iteration, vpu_iteration, smx_iteration, position, blocks;
  logic [31:0] inverse_temperature;
  logic [63:0] seed;
  logic [7:0] sequencer_error;
  logic [19:0] sequencer_error_index;
  lpu_sequencer #(.ProgramInstructions(ProgramInstructions), .DelayEntries(DelayEntries)) u_sequencer (
    .clk_i, .rst_ni(run_n), .halt_i(halt), .load_instruction_i(load_instruction), .load_loop_i(load_loop),
    .load_delay_i(load_delay), .load_address_i(load_address), .load_data_i(load_data), .loops_i(loops),
    .length_steps_i(length_steps), .cycles_with_head_i(cycles_with_head),
    .cycles_without_head_i(cycles_without_head), .command_valid_i(command_valid), .command_token_i(command_token),
    .command_position_i(command_position), .command_with_head_i(command_with_head),
    .command_samples_i(command_samples), .command_inverse_temperature_i(command_inverse_temperature),
    .command_seed_i(command_seed), .command_follow_i(command_follow), .command_take_o(command_take),
    .next_valid_i(next_valid), .next_token_i(next_token), .mvu_valid_o(mvu_valid),
    .mvu_instruction_o(mvu_instruction), .mvu_iteration_o(mvu_iteration), .mvu_index_o(), .vpu_valid_o(vpu_valid),
    .vpu_instruction_o(vpu_instruction), .vpu_iteration_o(vpu_iteration), .vpu_index_o(), .smx_valid_o(smx_valid),
    .smx_instruction_o(smx_instruction), .smx_iteration_o(smx_iteration), .smx_index_o(),
    .mvu_issue_o(monitor_mvu_issue_o), .mvu_issue_index_o(monitor_mvu_index_o), .mvu_issue_pc_o(),
    .vpu_issue_o(monitor_vpu_issue_o), .vpu_issue_index_o(monitor_vpu_index_o), .vpu_issue_pc_o(),
    .smx_issue_o(monitor_smx_issue_o), .smx_issue_index_o(monitor_smx_index_o), .smx_issue_pc_o(),
    .token_start_o(token_start), .busy_o(busy), .token_o(), .token_early_o(token_early), .position_o(position),
    .blocks_o(blocks), .with_head_o(), .samples_o(samples), .inverse_temperature_o(inverse_temperature),
    .seed_o(seed), .token_end_o(token_end), .token_next_o(token_next), .token_with_head_o(token_with_head),
    .token_position_o(token_position), .error_o(sequencer_error), .error_index_o(sequencer_error_index)
  );

  // ---- matrix-vector unit, with lane, minimum and activation memories
  logic beat, embed_read, embed_minimum_read, residual_read;
  logic [23:0] embed_address, embed_minimum_address, residual_exponent_address;
  logic [ColumnGroups*Lanes*WordBits-1:0] words, second_words, kv_words, second_read_words;
  logic [ColumnGroups*Lanes*MinimumBits-1:0] minimums;
  logic [ColumnGroups-1:0] second_read, vpu_block_write, smx_block_write;
  logic [ColumnGroups*Lanes-1:0] second_write, kv_write;
  logic [ColumnGroups*24-1:0] second_address, kv_address;
  logic [ColumnGroups*16-1:0] block_address, vpu_block_address, smx_block_address;
  logic [ColumnGroups*BlockBits-1:0] blocks_written, vpu_blocks, smx_blocks;
  logic [5:0] mvu_round;
  logic [ColumnGroups*ExponentBits-1:0] mvu_exponents;
  logic [19:0] residual_row;
  logic [Lanes*32-1:0] residual_values;
  logic [Lanes*ByteBits-1:0] residual_exponents;
  logic [$clog2(Lanes+1)-1:0] aligned_saturations;
  logic [ColumnGroups-1:0] vector_read, softmax_read;
  logic [EntryBits-1:0] vector_entry, softmax_entry, sum_entry;
  logic [VectorSliceBits-1:0] vector_slice;
  logic [SoftmaxSliceBits-1:0] softmax_slice;
  logic [VectorLanes*SumBits-1:0] vector_sums;
  logic [SoftmaxLanes*SumBits-1:0] softmax_sums;
  logic [SoftmaxLanes*lpu_pkg::ScaleBits-1:0] softmax_scales;
  logic [7:0] mvu_error;
  logic [23:0] beat_word;
  logic [15:0] beat_block;
  logic beat_relative;
  // The host loads while no token runs, K and V are written while one does: one of both is always silent.
  assign second_write = kv_write | load_word_write;
  assign second_address = |load_word_write ? load_word_address : kv_address;
  assign second_words = |load_word_write ? load_words : kv_words;
  always_comb begin
    for (int bank = 0; bank < ColumnGroups; bank++) begin
      block_address[bank*16+:16] = smx_block_write[bank] ? smx_block_address[bank*16+:16]
                                                         : vpu_block_address[bank*16+:16];
      blocks_written[bank*BlockBits+:BlockBits] = smx_block_write[bank] ? smx_blocks[bank*BlockBits+:BlockBits]
                                                                        : vpu_blocks[bank*BlockBits+:BlockBits];
    end
  end
  lpu_mvu #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes), .SoftmaxLanes(SoftmaxLanes),
    .HasMinimum(HasMinimum != 0), .LaneWords(LaneWords), .MinimumWords(MinimumWords),
    .AccumulatorEntries(AccumulatorEntries), .ActivationBlocks(ActivationBlocks)
  ) u_mvu (
    .clk_i, .rst_ni(run_n), .instruction_valid_i(mvu_valid), .instruction_i(mvu_instruction),
    .iteration_i(mvu_iteration), .blocks_i(blocks), .beat_o(beat), .embed_read_i(embed_read),
    .embed_address_i(embed_address), .embed_minimum_read_i(embed_minimum_read),
    .embed_minimum_address_i(embed_minimum_address), .words_o(words), .minimums_o(minimums),
    .second_read_i(second_read), .second_write_i(second_write), .second_address_i(second_address),
    .second_words_i(second_words), .second_words_o(second_read_words), .minimum_write_i(load_minimum_write),
    .minimum_address_i(load_minimum_address), .minimum_words_i(load_minimums),
    .block_write_i(vpu_block_write | smx_block_write), .block_address_i(block_address), .block_i(blocks_written),
    .round_o(mvu_round), .round_exponents_i(mvu_exponents), .residual_read_o(residual_read),
    .residual_row_o(residual_row), .exponent_address_o(residual_exponent_address),
    .residual_values_i(residual_values), .row_exponents_i(residual_exponents), .saturations_o(aligned_saturations),
    .vector_read_i(vector_read), .vector_entry_i(vector_entry), .vector_slice_i(vector_slice),
    .vector_sums_o(vector_sums), .softmax_read_i(softmax_read), .softmax_entry_i(softmax_entry),
    .softmax_slice_i(softmax_slice), .softmax_sums_o(softmax_sums), .softmax_scales_o(softmax_scales),
    .error_o(mvu_error), .beat_word_o(beat_word), .beat_block_o(beat_block), .beat_relative_o(beat_relative),
    .sum_write_o(monitor_sum_write_o), .sum_entry_o(sum_entry), .sums_o(monitor_sums_o)
  );

  // ---- memories of constants, and the residual
  logic row_exponent_read, vpu_grid_read, smx_grid_read, gain_read, bias_read, rope_read;
  logic [23:0] row_exponent_address, vpu_grid_address, smx_grid_address;
  logic [26:0] gain_address, bias_address;
  logic [25:0] rope_pair;
  logic [Lanes*ByteBits-1:0] row_exponents, vpu_grid_word, smx_grid_word;
  logic [VectorLanes*32-1:0] gains, biases;
  logic [VectorLanes/2*32-1:0] cosines, sines;
  lpu_exponent_memory #(.Lanes(Lanes), .ExponentWords(ExponentWords)) u_exponents (
    .clk_i, .rst_ni(run_n), .read_i({smx_grid_read, vpu_grid_read, row_exponent_read, residual_read}),
    .read_address_i({smx_grid_address, vpu_grid_address, row_exponent_address, residual_exponent_address}),
    .read_word_o({smx_grid_word, vpu_grid_word, row_exponents, residual_exponents}),
    .write_i(load_exponent_write), .write_address_i(load_exponent_address), .write_word_i(load_exponent_word)
  );
  lpu_constant_memory #(.VectorLanes(VectorLanes), .ConstantValues(ConstantValues)) u_constants (
    .clk_i, .rst_ni(run_n), .read_i({bias_read, gain_read}), .read_address_i({bias_address, gain_address}),
    .read_values_o({biases, gains}), .write_i(load_constant_write), .write_address_i(load_constant_address),
    .write_values_i(load_constant_values)
  );
  lpu_rope_memory #(.VectorLanes(VectorLanes), .RopePairs(RopePairs)) u_rope (
    .clk_i, .rst_ni(run_n), .read_i(rope_read), .read_pair_i(rope_pair), .cosine_o(cosines), .sine_o(sines),
    .write_i(load_rope_write), .write_pair_i(load_rope_pair), .write_pairs_i(load_rope_pairs)
  );
  lpu_residual_memory #(.Lanes(Lanes), .VectorLanes(VectorLanes), .ResidualValues(ResidualValues)) u_residual (
    .clk_i, .rst_ni(run_n), .width_i(width), .write_lanes_i(monitor_residual_lanes_o),
    .write_row_i(monitor_residual_row_o), .write_values_i(monitor_residual_o), .read_i(residual_read),
    .read_row_i(residual_row), .read_values_o(residual_values)
  );

  // ---- vector unit
  logic [5:0] mix_round;
  logic [GroupBits-1:0] mix_segment, key_group, value_group, value_key_group;
  logic [DifferenceBits-1:0] mix_difference;
  logic [31:0] mix_inverse;
  logic key_valid, value_early, value_valid, vpu_saturated, vpu_landed;
  logic [lpu_pkg::BlockValues*lpu_pkg::KvMantissaBitsWide-1:0] key_codes;
  logic [lpu_pkg::BlockValues*lpu_pkg::KvMantissaBits-1:0] value_codes;
  logic [15:0] key_scale, value_scale;
  logic [23:0] key_address, value_address, value_key_address;
  logic [1:0] key_nibbles;
  logic [19:0] value_row_step;
  logic [3:0] value_head_blocks;
  logic [HeadBlockBits-1:0] value_block;
  logic [7:0] vpu_error;
  lpu_vpu #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes), .AccumulatorEntries(AccumulatorEntries),
    .ActivationBlocks(ActivationBlocks), .MaxHeadBlocks(MaxHeadBlocks)
  ) u_vpu (
    .clk_i, .rst_ni(run_n), .vpu_valid_i(vpu_valid), .vpu_instruction_i(vpu_instruction),
    .vpu_iteration_i(vpu_iteration), .token_start_i(token_start), .token_early_i(token_early), .position_i(position),
    .samples_i(samples), .inverse_temperature_i(inverse_temperature), .seed_i(seed),
    .inverse_width_i(inverse_width), .epsilon_i(epsilon), .first_logit_row_i(first_logit_row),
    .exponent_read_o(row_exponent_read), .exponent_address_o(row_exponent_address), .exponent_word_i(row_exponents),
    .grid_read_o(vpu_grid_read), .grid_address_o(vpu_grid_address), .grid_word_i(vpu_grid_word),
    .gain_read_o(gain_read), .gain_address_o(gain_address), .gain_i(gains), .bias_read_o(bias_read),
    .bias_address_o(bias_address), .bias_i(biases), .rope_read_o(rope_read), .rope_pair_o(rope_pair),
    .cosine_i(cosines), .sine_i(sines), .accumulator_read_o(vector_read), .accumulator_entry_o(vector_entry),
    .accumulator_slice_o(vector_slice), .sums_i(vector_sums), .embed_read_o(embed_read),
    .embed_address_o(embed_address), .embed_minimum_read_o(embed_minimum_read),
    .embed_minimum_address_o(embed_minimum_address), .words_i(words), .minimums_i(minimums), .round_o(mix_round),
    .segment_o(mix_segment), .difference_i(mix_difference), .inverse_i(mix_inverse), .block_write_o(vpu_block_write),
    .block_address_o(vpu_block_address), .block_o(vpu_blocks), .residual_lanes_o(monitor_residual_lanes_o),
    .residual_row_o(monitor_residual_row_o), .residual_values_o(monitor_residual_o),
    .scale_write_o(monitor_scale_write_o), .scale_register_o(monitor_scale_register_o), .scale_o(monitor_scale_o),
    .key_valid_o(key_valid), .key_codes_o(key_codes), .key_scale_o(key_scale), .key_group_o(key_group),
    .key_address_o(key_address), .key_nibbles_o(key_nibbles), .value_early_o(value_early),
    .value_group_o(value_group), .value_address_o(value_address), .value_row_step_o(value_row_step),
    .value_key_group_o(value_key_group), .value_key_address_o(value_key_address),
    .value_head_blocks_o(value_head_blocks), .value_valid_o(value_valid), .value_block_o(value_block),
    .value_codes_o(value_codes), .value_scale_o(value_scale), .logits_valid_o(monitor_logits_valid_o),
    .logits_row_o(monitor_logits_row_o), .logits_lanes_o(monitor_logits_lanes_o), .logits_o(monitor_logits_o),
    .next_valid_o(next_valid), .next_token_o(next_token), .next_write_o(next_write), .saturated_o(vpu_saturated),
    .landed_o(vpu_landed), .error_o(vpu_error)
  );
  logic [7:0] kv_error;
  lpu_kv_writer #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .LaneWords(LaneWords), .MaxHeadBlocks(MaxHeadBlocks)
  ) u_kv_writer (
    .clk_i, .rst_ni(run_n), .position_lane_i(position[LaneBits-1:0]), .position_column_i(position[4:0]),
    .key_valid_i(key_valid), .key_codes_i(key_codes), .key_scale_i(key_scale), .key_group_i(key_group),
    .key_address_i(key_address), .key_nibbles_i(key_nibbles), .value_early_i(value_early),
    .value_group_i(value_group), .value_address_i(value_address), .value_row_step_i(value_row_step),
    .value_head_blocks_i(value_head_blocks), .value_key_group_i(value_key_group),
    .value_key_address_i(value_key_address), .value_valid_i(value_valid), .value_block_i(value_block),
    .value_codes_i(value_codes), .value_scale_i(value_scale), .second_read_o(second_read),
    .second_write_o(kv_write), .second_address_o(kv_address), .second_words_o(kv_words),
    .second_words_i(second_read_words), .error_o(kv_error)
  );

  // ---- softmax unit
  logic smx_saturated, smx_landed;
  logic [7:0] smx_error;
  lpu_smx #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .SoftmaxLanes(SoftmaxLanes), .AccumulatorEntries(AccumulatorEntries)
  ) u_smx (
    .clk_i, .rst_ni(run_n), .smx_valid_i(smx_valid), .smx_instruction_i(smx_instruction),
    .smx_iteration_i(smx_iteration), .token_start_i(token_start), .position_i(position), .blocks_i(blocks),
    .grid_read_o(smx_grid_read), .grid_address_o(smx_grid_address), .grid_word_i(smx_grid_word),
    .softmax_read_o(softmax_read), .softmax_entry_o(softmax_entry), .softmax_slice_o(softmax_slice),
    .softmax_sums_i(softmax_sums), .softmax_scales_i(softmax_scales), .block_write_o(smx_block_write),
    .block_address_o(smx_block_address), .block_o(smx_blocks), .round_write_o(monitor_round_write_o),
    .round_o(monitor_round_o), .exponents_o(monitor_exponents_o), .differences_o(monitor_differences_o),
    .inverse_write_o(monitor_inverse_write_o), .inverse_round_o(monitor_inverse_round_o),
    .inverses_o(monitor_inverses_o), .saturated_o(smx_saturated), .landed_o(smx_landed), .error_o(smx_error)
  );
  lpu_round_registers #(.ColumnGroups(ColumnGroups)) u_rounds (
    .clk_i, .round_write_i(monitor_round_write_o), .round_i(monitor_round_o), .exponents_i(monitor_exponents_o),
    .differences_i(monitor_differences_o), .inverse_write_i(monitor_inverse_write_o),
    .inverse_round_i(monitor_inverse_round_o), .inverses_i(monitor_inverses_o), .mvu_round_i(mvu_round),
    .mvu_exponents_o(mvu_exponents), .vpu_round_i(mix_round), .vpu_segment_i(mix_segment),
    .vpu_difference_o(mix_difference), .vpu_inverse_o(mix_inverse)
  );

  // ---- time, and what went wrong
  logic [7:0] tally_error, hazard_error;
  lpu_tally u_tally (
    .clk_i, .rst_ni(run_n), .token_start_i(token_start), .token_end_i(token_end),
    .landed_i(vpu_landed || smx_landed || (|kv_write) || (|monitor_sum_write_o)), .beat_i(beat),
    .saturated_i(vpu_saturated || smx_saturated || aligned_saturations != '0), .result_push_o(token_push),
    .result_cycles_o(token_cycles), .result_busy_beats_o(token_busy_beats), .result_saturated_o(token_saturated),
    .error_o(tally_error)
  );
  // A result waits until a token that lasted too long would have shown itself: none is given of a token that failed.
  logic token_push, token_saturated, held_push;
  logic [31:0] token_cycles, token_busy_beats;
  localparam int HoldCycles = 64;                 // no chain of a token is silent for so long
  lpu_delay #(.Width(107), .Cycles(HoldCycles), .HasReset(1'b1)) u_result (
    .clk_i, .rst_ni(run_n),
    .value_i({token_push, token_next, token_cycles, token_busy_beats, token_with_head, token_saturated,
              token_position}),
    .value_o({held_push, result_next, result_cycles, result_busy_beats, result_with_head, result_saturated,
              result_position})
  );
  assign result_push = held_push && error == 8'(lpu_pkg::ErrorNone) && !halt;
  logic beyond_q, meets_q;                        // addresses outside a memory; two blocks for one bank
  logic [ColumnGroups-1:0] block_beyond;
  always_comb
    for (int bank = 0; bank < ColumnGroups; bank++)
      block_beyond[bank] = (vpu_block_write[bank] || smx_block_write[bank]) &&
                           {1'b0, block_address[bank*16+:16]} >= 17'(ActivationBlocks);
  always_ff @(posedge clk_i) begin
    meets_q <= run_n && (vpu_block_write & smx_block_write) != '0;
    beyond_q <= run_n && (block_beyond != '0 ||
                          (residual_read && {1'b0, residual_exponent_address} >= 25'(ExponentWords)) ||
                          (row_exponent_read && {1'b0, row_exponent_address} >= 25'(ExponentWords)) ||
                          (vpu_grid_read && {1'b0, vpu_grid_address} >= 25'(ExponentWords)) ||
                          (smx_grid_read && {1'b0, smx_grid_address} >= 25'(ExponentWords)) ||
                          (gain_read && {1'b0, gain_address} >= 28'(ConstantValues)) ||
                          (bias_read && {1'b0, bias_address} >= 28'(ConstantValues)) ||
                          (rope_read && {1'b0, rope_pair} >= 27'(RopePairs)) ||
                          (residual_read && {1'b0, residual_row} >= 21'(ResidualValues)) ||
                          (|monitor_residual_lanes_o && {1'b0, monitor_residual_row_o} >= 21'(ResidualValues)));
  end
  always_comb begin
    error = 8'(lpu_pkg::ErrorNone);
    error_index = monitor_vpu_index_o;            // of the last instruction that has issued in the unit
    if (beyond_q) error = 8'(lpu_pkg::ErrorAddress);
    if (meets_q) error = 8'(lpu_pkg::ErrorPort);
    if (tally_error != '0) error = tally_error;
    if (hazard_error != '0) error = hazard_error;
    if (kv_error != '0) error = kv_error;
    if (vpu_error != '0) error = vpu_error;
    if (smx_error != '0) begin
      error = smx_error;
      error_index = monitor_smx_index_o;
    end
    if (mvu_error != '0) begin
      error = mvu_error;
      error_index = monitor_mvu_index_o;
    end
    if (sequencer_error != '0) begin
      error = sequencer_error;
      error_index = sequencer_error_index;
    end
  end
`ifdef SYNTHESIS
  assign hazard_error = '0;
`else
  lpu_hazard_monitor #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes), .LaneWords(LaneWords),
    .AccumulatorEntries(AccumulatorEntries), .ActivationBlocks(ActivationBlocks), .ResidualValues(ResidualValues)
  ) u_hazards (
    .clk_i, .rst_ni(run_n), .token_start_i(token_start), .mvu_issue_i(monitor_mvu_issue_o),
    .mvu_index_i(monitor_mvu_index_o), .vpu_issue_i(monitor_vpu_issue_o), .vpu_index_i(monitor_vpu_index_o),
    .smx_issue_i(monitor_smx_issue_o), .smx_index_i(monitor_smx_index_o), .beat_i(beat), .beat_word_i(beat_word),
    .beat_block_i(beat_block), .beat_relative_i(beat_relative), .beat_round_i(mvu_round),
    .residual_read_i(residual_read), .residual_row_i(residual_row), .sum_write_i(monitor_sum_write_o),
    .sum_entry_i(sum_entry), .vector_read_i(vector_read), .vector_entry_i(vector_entry),
    .entry_valid_i(u_vpu.u_issue.entry_valid_o), .entry_kind_i(u_vpu.u_issue.entry_kind_o),
    .entry_block_end_i(u_vpu.u_issue.entry_block_end_o), .entry_end_i(u_vpu.u_issue.entry_end_o),
    .entry_has_bias_i(u_vpu.u_issue.entry_has_bias_o), .scale_register_i(u_vpu.u_issue.scale_register_o),
    .mix_round_i(mix_round), .tag_bank_i(u_vpu.u_issue.tag_bank_o), .tag_address_i(u_vpu.u_issue.tag_address_o),
    .tag_nibbles_i(u_vpu.u_issue.tag_nibbles_o), .tag_row_step_i(u_vpu.u_issue.tag_row_step_o),
    .tag_key_group_i(u_vpu.u_issue.tag_key_group_o), .tag_key_address_i(u_vpu.u_issue.tag_key_address_o),
    .tag_head_blocks_i(u_vpu.u_issue.tag_head_blocks_o), .tag_residual_row_i(u_vpu.u_issue.tag_residual_row_o),
    .softmax_read_i(softmax_read), .softmax_entry_i(softmax_entry), .smx_block_write_i(smx_block_write),
    .smx_block_address_i(smx_block_address), .smx_blocks_i(smx_blocks), .round_write_i(monitor_round_write_o),
    .round_i(monitor_round_o), .error_o(hazard_error)
  );
`endif

  // ---- for lockstep
  assign monitor_token_start_o = token_start;
  assign monitor_beat_o = beat;
  assign monitor_block_write_o = vpu_block_write | smx_block_write;
  assign monitor_block_address_o = block_address;
  assign monitor_blocks_o = blocks_written;
  assign monitor_word_write_o = kv_write;
  assign monitor_word_address_o = kv_address;
  assign monitor_words_o = kv_words;
  assign monitor_sum_entry_o = 12'(sum_entry);
  assign monitor_next_write_o = next_write;
  assign monitor_next_o = next_token;
endmodule
