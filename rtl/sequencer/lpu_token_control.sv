// When tokens start and end, and what each one is: commands, and the tokens that follow on a command's own results.
//
// A token that is decided on in cycle c starts in c + WalkLead: its walk begins at once. The decision falls WalkLead
// cycles before the running token ends, so that the next one starts in the very cycle in which it ends; if nothing is
// waiting then, it falls whenever a command comes.
//
//   decision ── walk begins ── … length known … ── token_start_o (T0) ────── decision of the next ── token_end_o
//      c           c + 1           c + 8           c + WalkLead               end − WalkLead           end
//
// Relies on `next_token_i` being right from three cycles before a token's end on, with `next_valid_i`, or on a pulse of
// `next_valid_i` before that.
module lpu_token_control #(
  localparam int TimeBits = lpu_sequencer_pkg::TimeBits
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                stop_i,
  output logic [TimeBits-1:0] now_o,
  // commands
  input  logic                command_valid_i,
  input  logic [23:0]         command_token_i,
  input  logic [15:0]         command_position_i,
  input  logic                command_with_head_i,
  input  logic                command_samples_i,
  input  logic [31:0]         command_inverse_temperature_i,
  input  logic [63:0]         command_seed_i,
  input  logic [15:0]         command_follow_i,        // further tokens on its own results
  output logic                command_take_o,
  // the running choice
  input  logic                next_valid_i,
  input  logic [23:0]         next_token_i,
  // the walk of the token that was decided on
  output logic                walk_valid_o,
  input  logic                walk_take_i,
  output logic                walk_with_head_o,
  output logic [10:0]         walk_column_o,           // blocks − 1
  output logic [TimeBits-1:0] walk_start_o,            // T0
  input  logic                walk_busy_i,
  input  logic                length_valid_i,
  input  logic [31:0]         length_i,
  // the token
  output logic                token_start_o,
  output logic                busy_o,
  output logic [23:0]         token_o,
  output logic [23:0]         token_early_o,           // from three cycles before T0 on: the token that starts there
  output logic [15:0]         position_o,
  output logic [15:0]         blocks_o,
  output logic                with_head_o,
  output logic                samples_o,
  output logic [31:0]         inverse_temperature_o,
  output logic [63:0]         seed_o,
  output logic                token_end_o,
  output logic [23:0]         token_next_o,            // of the token that ended, as the two below
  output logic                token_with_head_o,
  output logic [15:0]         token_position_o,
  output logic [7:0]          error_o
);
  localparam int WalkLead = lpu_sequencer_pkg::WalkLead;
  localparam int MostCycles = 2 ** 30;

  logic [TimeBits-1:0] now_q;
  assign now_o = now_q;

  // ---- the choice, held if it was a pulse
  logic chosen_q, chosen;
  logic [23:0] choice_q, choice;
  assign chosen = next_valid_i || chosen_q;
  assign choice = next_valid_i ? next_token_i : choice_q;
  always_ff @(posedge clk_i) begin
    chosen_q <= chosen && !token_start_o && rst_ni;
    choice_q <= choice;
  end

  // ---- decisions
  logic open_q;                  // nothing follows the running token yet, or nothing runs: any cycle may decide
  logic undecided_q;             // the running token's end isn't near
  logic decide, follows, planned;
  logic [15:0] follow_q;         // tokens left that follow
  logic [TimeBits-1:0] decide_at_q, last_q;    // of the running token: decision, last cycle
  assign decide = (open_q || (undecided_q && now_q == decide_at_q)) && !stop_i;
  assign follows = follow_q != 16'd0;
  assign command_take_o = decide && !follows && command_valid_i;
  assign planned = decide && (follows || command_valid_i);

  // ---- the token that comes
  logic coming_q, pending_q, followed_q, with_head_q, samples_q, measured_q;
  logic [23:0] coming_token_q;
  logic [15:0] coming_position_q;
  logic [31:0] inverse_temperature_q;
  logic [63:0] seed_q;
  logic [TimeBits-1:0] start_q, early_q, coming_decide_q, coming_last_q;
  logic [2:0] approach_q;        // one-hot: three, two, one cycle before T0
  logic starts, ends, running_q, takes_choice_q;
  logic [23:0] token_q;
  assign starts = approach_q[2] && !stop_i;
  assign ends = running_q && now_q == last_q && !stop_i;
  assign walk_valid_o = pending_q;
  assign walk_with_head_o = with_head_q;
  assign walk_column_o = coming_position_q[15:5];
  assign walk_start_o = start_q;

  assign busy_o = running_q || coming_q;
  assign token_o = takes_choice_q ? choice : token_q;
  assign token_early_o = approach_q == 3'b000 ? token_o : followed_q ? choice : coming_token_q;
  assign token_next_o = choice;

  always_ff @(posedge clk_i) begin
    now_q <= now_q + TimeBits'(1);
    if (decide) begin
      undecided_q <= 1'b0;
      open_q <= !planned;
    end
    if (walk_take_i) pending_q <= 1'b0;
    if (length_valid_i) begin
      measured_q <= 1'b1;
      coming_decide_q <= start_q + length_i - TimeBits'(WalkLead);
      coming_last_q <= start_q + length_i - TimeBits'(1);
    end
    approach_q <= {approach_q[1:0], coming_q && now_q == early_q};
    if (starts) begin
      coming_q <= 1'b0;
      undecided_q <= 1'b1;
      decide_at_q <= coming_decide_q;
      last_q <= coming_last_q;
    end
    if (planned) begin
      coming_q <= 1'b1;
      pending_q <= 1'b1;
      measured_q <= 1'b0;
      followed_q <= follows;
      start_q <= now_q + TimeBits'(WalkLead);
      early_q <= now_q + TimeBits'(WalkLead - 4);
      if (follows) begin
        follow_q <= follow_q - 16'd1;
        coming_position_q <= coming_position_q + 16'd1;
        with_head_q <= 1'b1;
      end else begin
        follow_q <= command_follow_i;
        coming_token_q <= command_token_i;
        coming_position_q <= command_position_i;
        with_head_q <= command_with_head_i;
        samples_q <= command_samples_i;
        inverse_temperature_q <= command_inverse_temperature_i;
        seed_q <= command_seed_i;
      end
    end
    if (!rst_ni) begin
      now_q <= '0;
      open_q <= 1'b1;
      undecided_q <= 1'b0;
      follow_q <= 16'd0;
      coming_q <= 1'b0;
      pending_q <= 1'b0;
      measured_q <= 1'b0;
      approach_q <= 3'b000;
    end
  end

  // ---- the token that runs
  always_ff @(posedge clk_i) begin
    token_start_o <= starts;
    token_end_o <= ends;
    takes_choice_q <= starts && followed_q;
    if (takes_choice_q) token_q <= choice;
    if (ends) begin
      running_q <= 1'b0;
      token_with_head_o <= with_head_o;
      token_position_o <= position_o;
    end
    if (starts) begin
      running_q <= 1'b1;
      token_q <= coming_token_q;
      position_o <= coming_position_q;
      blocks_o <= 16'(coming_position_q[15:5]) + 16'd1;
      with_head_o <= with_head_q;
      samples_o <= samples_q;
      inverse_temperature_o <= inverse_temperature_q;
      seed_o <= seed_q;
    end
    if (!rst_ni) begin
      token_start_o <= 1'b0;
      token_end_o <= 1'b0;
      takes_choice_q <= 1'b0;
      running_q <= 1'b0;
    end
  end

  // ---- errors: a length that leaves no time for the next walk; a walk that isn't done, or hasn't got as far as the
  // length, when its token is; a token that should take a choice that nobody made
  logic unfinished;
  assign unfinished = (ends && walk_busy_i && (!coming_q || pending_q)) || (starts && !measured_q);
  always_ff @(posedge clk_i) begin
    error_o <= 8'(lpu_pkg::ErrorNone);
    if (takes_choice_q && !chosen) error_o <= 8'(lpu_pkg::ErrorHazard);
    if (unfinished || (length_valid_i && (length_i < 32'(WalkLead) || length_i >= 32'(MostCycles))))
      error_o <= 8'(lpu_pkg::ErrorLength);
    if (!rst_ni) error_o <= 8'(lpu_pkg::ErrorNone);
  end
endmodule
