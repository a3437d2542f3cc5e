// The control registers of the host port (region 8; hls/contract/memory_map.hpp): the model's constants, commands and
// their queue, results and theirs, the first error, counters, and the soft reset.
// A register written in one cycle reads as written in the next. Values wider than their field are cut.
// Relies on the core for results (one a token), on the host for reading a 64-bit counter while no token ends.
module lpu_control_registers #(
  parameter int ResetCycles = 64,
  localparam int CommandDepth = 16,
  localparam int ResultDepth = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // a write to the region, a read from it
  input  logic        write_i,
  input  logic [33:0] word_i,               // word number in the region
  input  logic [31:0] data_i,
  output logic [31:0] data_o,               // of word_i, in the same cycle
  input  logic        load_error_i,
  // constants of the model
  output logic [19:0] width_o,
  output logic [31:0] inverse_width_o,      // binary32
  output logic [31:0] epsilon_o,            // binary32
  output logic [15:0] head_size_o,
  output logic [15:0] loops_o,
  output logic [15:0] length_steps_o,
  output logic [23:0] cycles_with_head_o,
  output logic [23:0] cycles_without_head_o,
  output logic [23:0] vocabulary_o,
  output logic [19:0] first_logit_row_o,
  output logic [16:0] context_tokens_o,
  // the oldest command
  output logic        command_valid_o,
  input  logic        command_take_i,
  output logic [23:0] command_token_o,
  output logic [15:0] command_position_o,
  output logic        command_with_head_o,
  output logic        command_samples_o,
  output logic [31:0] command_inverse_temperature_o,
  output logic [63:0] command_seed_o,
  output logic [15:0] command_follow_o,
  // a token's end
  input  logic        result_push_i,
  input  logic [23:0] result_next_i,
  input  logic [31:0] result_cycles_i,
  input  logic [31:0] result_busy_beats_i,
  input  logic        result_with_head_i,
  input  logic        result_saturated_i,
  input  logic [15:0] result_position_i,
  // state
  input  logic        busy_i,
  input  logic [7:0]  error_i,              // lpu_pkg::Error…, 0: none
  input  logic [19:0] error_index_i,
  output logic        busy_o,               // a token runs, waits, or the core is in reset: no loads
  output logic        halt_o,               // an error: until reset
  output logic        soft_reset_o          // for ResetCycles
);
  // ---- soft reset
  localparam int ResetBits = $clog2(ResetCycles + 1);
  logic [ResetBits-1:0] reset_left_q;
  logic                 reset_write, clear_n;
  assign soft_reset_o = reset_left_q != '0;
  assign clear_n = rst_ni && !soft_reset_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) reset_left_q <= '0;
    else if (reset_write) reset_left_q <= ResetBits'(ResetCycles);
    else if (soft_reset_o) reset_left_q <= reset_left_q - 1'b1;
  end

  // ---- writes
  logic [5:0] word;
  logic       named, is_constant, is_command, starts, pops, bad_write, takes_constant;
  assign word = word_i[5:0];
  assign named = word_i[33:6] == '0;
  assign is_constant = named && word >= 6'(lpu_pkg::ControlWidth) && word <= 6'(lpu_pkg::ControlContextTokens);
  assign is_command = named && word >= 6'(lpu_pkg::ControlToken) && word <= 6'(lpu_pkg::ControlFollow);
  assign reset_write = write_i && named && word == 6'(lpu_pkg::ControlReset) && data_i[0];
  assign starts = write_i && named && word == 6'(lpu_pkg::ControlStart);
  assign pops = write_i && named && word == 6'(lpu_pkg::ControlResultPop);
  assign takes_constant = write_i && is_constant && !busy_o;
  assign bad_write = write_i && is_constant && busy_o;

  logic [23:0] token_q;
  logic [15:0] position_q, follow_q;
  logic [31:0] inverse_temperature_q;
  logic [63:0] seed_q;
  logic        with_head_q, samples_q;
  logic        position_fits_q, token_fits_q;  // so that the compared numbers stand outside: 16, 24 bits
  always_ff @(posedge clk_i) begin
    if (takes_constant) begin
      unique case (word)
        6'(lpu_pkg::ControlWidth): width_o <= data_i[19:0];
        6'(lpu_pkg::ControlInverseWidth): inverse_width_o <= data_i;
        6'(lpu_pkg::ControlEpsilon): epsilon_o <= data_i;
        6'(lpu_pkg::ControlHeadSize): head_size_o <= data_i[15:0];
        6'(lpu_pkg::ControlLoops): loops_o <= data_i[15:0];
        6'(lpu_pkg::ControlLengthSteps): length_steps_o <= data_i[15:0];
        6'(lpu_pkg::ControlCyclesWithHead): cycles_with_head_o <= data_i[23:0];
        6'(lpu_pkg::ControlCyclesWithoutHead): cycles_without_head_o <= data_i[23:0];
        6'(lpu_pkg::ControlVocabulary): vocabulary_o <= data_i[23:0];
        6'(lpu_pkg::ControlFirstLogitRow): first_logit_row_o <= data_i[19:0];
        6'(lpu_pkg::ControlContextTokens): context_tokens_o <= data_i[16:0];
        default: ;
      endcase
    end
    if (write_i && is_command) begin
      unique case (word)
        6'(lpu_pkg::ControlToken): begin
          token_q <= data_i[23:0];
          token_fits_q <= data_i[31:24] == '0;
        end
        6'(lpu_pkg::ControlPosition): begin
          position_q <= data_i[15:0];
          position_fits_q <= data_i[31:16] == '0;
        end
        6'(lpu_pkg::ControlFlags): {samples_q, with_head_q} <= data_i[1:0];
        6'(lpu_pkg::ControlInverseTemperature): inverse_temperature_q <= data_i;
        6'(lpu_pkg::ControlSeedLow): seed_q[31:0] <= data_i;
        6'(lpu_pkg::ControlSeedHigh): seed_q[63:32] <= data_i;
        6'(lpu_pkg::ControlFollow): follow_q <= data_i[15:0];
        default: ;
      endcase
    end
    if (!rst_ni) begin
      width_o <= '0;
      loops_o <= '0;
      vocabulary_o <= '0;
      context_tokens_o <= '0;
      {samples_q, with_head_q} <= '0;
      follow_q <= '0;
      token_fits_q <= 1'b0;
      position_fits_q <= 1'b0;
    end
  end

  // ---- commands: a token's followers run on its result, so that it needs the head, and positions up to the last one's
  localparam int CommandBits = 24 + 16 + 2 + 32 + 64 + 16;
  logic                        command_full, command_fits, bad_command;
  logic [$clog2(CommandDepth):0] commands;
  logic [16:0]                 last_position;
  assign last_position = 17'(position_q) + 17'(follow_q);
  assign command_fits = token_fits_q && token_q < vocabulary_o && position_fits_q && last_position < context_tokens_o &&
      (follow_q == '0 || with_head_q) && !soft_reset_o && !command_full;
  assign bad_command = starts && !command_fits;
  assign command_valid_o = commands != '0;
  lpu_fifo #(.Width(CommandBits), .Depth(CommandDepth)) u_commands (
    .clk_i, .rst_ni(clear_n), .push_i(starts && command_fits),
    .data_i({token_q, position_q, with_head_q, samples_q, inverse_temperature_q, seed_q, follow_q}),
    .pop_i(command_take_i),
    .data_o({command_token_o, command_position_o, command_with_head_o, command_samples_o,
             command_inverse_temperature_o, command_seed_o, command_follow_o}),
    .count_o(commands), .full_o(command_full)
  );

  // ---- results, and what they add up to
  localparam int ResultBits = 24 + 32 + 32 + 2 + 16;
  logic                         result_full;
  logic [$clog2(ResultDepth):0] results;
  logic [ResultBits-1:0]        result_made, result;
  logic [23:0]                  oldest_next;
  logic [31:0]                  oldest_cycles, oldest_busy_beats;
  logic [1:0]                   oldest_flags;
  logic [15:0]                  oldest_position;
  assign result_made = {result_next_i, result_cycles_i, result_busy_beats_i, result_saturated_i, result_with_head_i,
                        result_position_i};
  lpu_fifo #(.Width(ResultBits), .Depth(ResultDepth)) u_results (
    .clk_i, .rst_ni(clear_n), .push_i(result_push_i), .data_i(result_made), .pop_i(pops), .data_o(result),
    .count_o(results), .full_o(result_full)
  );
  assign {oldest_next, oldest_cycles, oldest_busy_beats, oldest_flags, oldest_position} =
      results != '0 ? result : '0;

  logic [63:0] tokens_q, cycles_q, busy_beats_q;
  always_ff @(posedge clk_i) begin
    if (result_push_i) begin
      tokens_q <= tokens_q + 64'd1;
      cycles_q <= cycles_q + 64'(result_cycles_i);
      busy_beats_q <= busy_beats_q + 64'(result_busy_beats_i);
    end
    if (!clear_n) begin
      tokens_q <= '0;
      cycles_q <= '0;
      busy_beats_q <= '0;
    end
  end

  // ---- the first error since reset; what the host does wrong while the reset lasts counts, what the core says not
  logic [7:0]  error_q;
  logic [19:0] error_index_q;
  assign halt_o = error_q != 8'(lpu_pkg::ErrorNone);
  assign busy_o = busy_i || command_valid_o || soft_reset_o;
  always_ff @(posedge clk_i) begin
    if (!halt_o) begin
      if (error_i != 8'(lpu_pkg::ErrorNone) && !soft_reset_o) begin
        error_q <= error_i;
        error_index_q <= error_index_i;
      end else if (result_push_i && result_full && !soft_reset_o) error_q <= 8'(lpu_pkg::ErrorResults);
      else if (bad_command) error_q <= 8'(lpu_pkg::ErrorCommand);
      else if (load_error_i || bad_write) error_q <= 8'(lpu_pkg::ErrorLoad);
    end
    if (!rst_ni || reset_write) begin
      error_q <= 8'(lpu_pkg::ErrorNone);
      error_index_q <= '0;
    end
  end

  // ---- reads
  logic [31:0] read_word;
  always_comb begin
    unique case (word)
      6'(lpu_pkg::ControlContractLow): read_word = lpu_pkg::ContractHash[31:0];
      6'(lpu_pkg::ControlContractHigh): read_word = lpu_pkg::ContractHash[63:32];
      6'(lpu_pkg::ControlStatus): read_word = {8'd0, 8'(results), 8'(commands), 6'd0, halt_o, busy_o};
      6'(lpu_pkg::ControlErrorCode): read_word = 32'(error_q);
      6'(lpu_pkg::ControlErrorIndex): read_word = 32'(error_index_q);
      6'(lpu_pkg::ControlWidth): read_word = 32'(width_o);
      6'(lpu_pkg::ControlInverseWidth): read_word = inverse_width_o;
      6'(lpu_pkg::ControlEpsilon): read_word = epsilon_o;
      6'(lpu_pkg::ControlHeadSize): read_word = 32'(head_size_o);
      6'(lpu_pkg::ControlLoops): read_word = 32'(loops_o);
      6'(lpu_pkg::ControlLengthSteps): read_word = 32'(length_steps_o);
      6'(lpu_pkg::ControlCyclesWithHead): read_word = 32'(cycles_with_head_o);
      6'(lpu_pkg::ControlCyclesWithoutHead): read_word = 32'(cycles_without_head_o);
      6'(lpu_pkg::ControlVocabulary): read_word = 32'(vocabulary_o);
      6'(lpu_pkg::ControlFirstLogitRow): read_word = 32'(first_logit_row_o);
      6'(lpu_pkg::ControlContextTokens): read_word = 32'(context_tokens_o);
      6'(lpu_pkg::ControlToken): read_word = 32'(token_q);
      6'(lpu_pkg::ControlPosition): read_word = 32'(position_q);
      6'(lpu_pkg::ControlFlags): read_word = {30'd0, samples_q, with_head_q};
      6'(lpu_pkg::ControlInverseTemperature): read_word = inverse_temperature_q;
      6'(lpu_pkg::ControlSeedLow): read_word = seed_q[31:0];
      6'(lpu_pkg::ControlSeedHigh): read_word = seed_q[63:32];
      6'(lpu_pkg::ControlFollow): read_word = 32'(follow_q);
      6'(lpu_pkg::ControlResultNext): read_word = 32'(oldest_next);
      6'(lpu_pkg::ControlResultCycles): read_word = oldest_cycles;
      6'(lpu_pkg::ControlResultBusyBeats): read_word = oldest_busy_beats;
      6'(lpu_pkg::ControlResultFlags): read_word = 32'(oldest_flags);
      6'(lpu_pkg::ControlResultPosition): read_word = 32'(oldest_position);
      6'(lpu_pkg::ControlTokensLow): read_word = tokens_q[31:0];
      6'(lpu_pkg::ControlTokensHigh): read_word = tokens_q[63:32];
      6'(lpu_pkg::ControlCyclesLow): read_word = cycles_q[31:0];
      6'(lpu_pkg::ControlCyclesHigh): read_word = cycles_q[63:32];
      6'(lpu_pkg::ControlBusyBeatsLow): read_word = busy_beats_q[31:0];
      6'(lpu_pkg::ControlBusyBeatsHigh): read_word = busy_beats_q[63:32];
      default: read_word = '0;
    endcase
  end
  assign data_o = named ? read_word : '0;
endmodule
