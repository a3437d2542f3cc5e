// The host's side of the card: one 32-bit write or read a cycle at byte addresses region << 36 | offset
// (hls/contract/memory_map.hpp). Regions 0 to 7 are the memories' load streams (lpu_loader), region 8 the control
// registers (lpu_control_registers); a board's shell or a simulator drives it, and nothing else knows the host.
// A write shown in cycle c is done in c + 1; a read shown in c answers in c + 2, and sees writes shown before c.
// Relies on one write or read a cycle; every write takes one cycle: it never asks the host to wait.
module lpu_host_port #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  parameter int LaneWords = 256,
  parameter int MinimumWords = 256,   // 0: no minimum memory
  parameter int ExponentWords = 64,
  parameter int ConstantValues = 64,
  parameter int RopePairs = 64,
  parameter int ProgramInstructions = 64,
  parameter int DelayEntries = 64,
  localparam int WordBits = lpu_pkg::WordDataBits + lpu_pkg::WordSideBits,
  localparam int MinimumBits = lpu_pkg::MinimumMantissaBits + lpu_pkg::MinimumShiftBits,
  localparam int ArrayLanes = ColumnGroups * Lanes
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // the host
  input  logic                              host_write_i,
  input  logic                              host_read_i,
  input  logic [39:0]                       host_address_i,      // bytes, a multiple of 4
  input  logic [31:0]                       host_data_i,
  output logic                              host_valid_o,        // two cycles after host_read_i
  output logic [31:0]                       host_data_o,
  // constants of the model
  output logic [19:0]                       width_o,
  output logic [31:0]                       inverse_width_o,
  output logic [31:0]                       epsilon_o,
  output logic [15:0]                       head_size_o,
  output logic [15:0]                       loops_o,
  output logic [15:0]                       length_steps_o,
  output logic [23:0]                       cycles_with_head_o,
  output logic [23:0]                       cycles_without_head_o,
  output logic [23:0]                       vocabulary_o,
  output logic [19:0]                       first_logit_row_o,
  output logic [16:0]                       context_tokens_o,
  // the oldest command waiting
  output logic                              command_valid_o,
  input  logic                              command_take_i,      // with it: gone in the next cycle
  output logic [23:0]                       command_token_o,
  output logic [15:0]                       command_position_o,
  output logic                              command_with_head_o,
  output logic                              command_samples_o,
  output logic [31:0]                       command_inverse_temperature_o,
  output logic [63:0]                       command_seed_o,
  output logic [15:0]                       command_follow_o,
  // a token's end: its result
  input  logic                              result_push_i,
  input  logic [23:0]                       result_next_i,
  input  logic [31:0]                       result_cycles_i,
  input  logic [31:0]                       result_busy_beats_i,
  input  logic                              result_with_head_i,
  input  logic                              result_saturated_i,
  input  logic [15:0]                       result_position_i,
  // the core's state
  input  logic                              busy_i,              // from the cycle after command_take_i on
  input  logic [7:0]                        error_i,
  input  logic [19:0]                       error_index_i,
  output logic                              halt_o,
  output logic                              soft_reset_o,
  // loads
  output logic [ArrayLanes-1:0]             load_word_write_o,   // [group][lane]
  output logic [ColumnGroups*24-1:0]        load_word_address_o,
  output logic [ArrayLanes*WordBits-1:0]    load_words_o,
  output logic [ArrayLanes-1:0]             load_minimum_write_o,
  output logic [23:0]                       load_minimum_address_o,
  output logic [ArrayLanes*MinimumBits-1:0] load_minimum_words_o,
  output logic                              load_exponent_write_o,
  output logic [23:0]                       load_exponent_address_o,
  output logic [Lanes*8-1:0]                load_exponent_word_o,
  output logic                              load_constant_write_o,
  output logic [26:0]                       load_constant_address_o,
  output logic [VectorLanes*32-1:0]         load_constant_values_o,
  output logic                              load_rope_write_o,
  output logic [25:0]                       load_rope_pair_o,
  output logic [VectorLanes*32-1:0]         load_rope_pairs_o,
  output logic                              load_instruction_o,
  output logic                              load_loop_o,
  output logic                              load_delay_o,
  output logic [23:0]                       load_address_o,
  output logic [lpu_pkg::InstructionBits-1:0] load_data_o
);
  // ---- cycle 1: registered
  logic        write_q, read_q;
  logic [39:0] address_q;
  logic [31:0] data_q;
  always_ff @(posedge clk_i) begin
    write_q <= host_write_i && rst_ni;
    read_q <= host_read_i && rst_ni;
    address_q <= host_address_i;
    data_q <= host_data_i;
  end

  logic is_control, is_memory, bad_load, bad_address, busy;
  assign is_control = address_q[39:36] == 4'(lpu_pkg::RegionControl);
  assign is_memory = address_q[39:36] < 4'(lpu_pkg::RegionControl);
  assign bad_address = write_q && ((!is_control && !is_memory) || address_q[1:0] != '0);

  logic [31:0] control_data;
  lpu_control_registers u_registers (
    .clk_i, .rst_ni, .write_i(write_q && is_control && !bad_address), .word_i(address_q[35:2]), .data_i(data_q),
    .data_o(control_data), .load_error_i(bad_load || bad_address),
    .width_o, .inverse_width_o, .epsilon_o, .head_size_o, .loops_o, .length_steps_o, .cycles_with_head_o,
    .cycles_without_head_o, .vocabulary_o, .first_logit_row_o, .context_tokens_o,
    .command_valid_o, .command_take_i, .command_token_o, .command_position_o, .command_with_head_o, .command_samples_o,
    .command_inverse_temperature_o, .command_seed_o, .command_follow_o,
    .result_push_i, .result_next_i, .result_cycles_i, .result_busy_beats_i, .result_with_head_i, .result_saturated_i,
    .result_position_i, .busy_i, .error_i, .error_index_i, .busy_o(busy), .halt_o, .soft_reset_o
  );

  lpu_loader #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes), .LaneWords(LaneWords),
    .MinimumWords(MinimumWords), .ExponentWords(ExponentWords), .ConstantValues(ConstantValues), .RopePairs(RopePairs),
    .ProgramInstructions(ProgramInstructions), .DelayEntries(DelayEntries)
  ) u_loader (
    .clk_i, .rst_ni(rst_ni && !soft_reset_o), .write_i(write_q && is_memory && !bad_address),
    .region_i(address_q[38:36]), .offset_i(address_q[35:0]), .data_i(data_q), .refuse_i(busy),
    .bad_write_o(bad_load), .word_write_o(load_word_write_o), .word_address_o(load_word_address_o),
    .words_o(load_words_o), .minimum_write_o(load_minimum_write_o), .minimum_address_o(load_minimum_address_o),
    .minimum_words_o(load_minimum_words_o), .exponent_write_o(load_exponent_write_o),
    .exponent_address_o(load_exponent_address_o), .exponent_word_o(load_exponent_word_o),
    .constant_write_o(load_constant_write_o), .constant_address_o(load_constant_address_o),
    .constant_values_o(load_constant_values_o), .rope_write_o(load_rope_write_o), .rope_pair_o(load_rope_pair_o),
    .rope_pairs_o(load_rope_pairs_o), .instruction_write_o(load_instruction_o), .loop_write_o(load_loop_o),
    .delay_write_o(load_delay_o), .program_address_o(load_address_o), .program_data_o(load_data_o)
  );

  // ---- cycle 2: answers
  always_ff @(posedge clk_i) begin
    host_valid_o <= read_q && rst_ni;
    host_data_o <= is_control && address_q[1:0] == '0 ? control_data : '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    assert (!rst_ni || !(host_write_i && host_read_i)) else $error("%m: a write and a read in one cycle");
`endif
endmodule
