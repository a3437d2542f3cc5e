// Walks through a program's loops for one token: which instruction comes next, in the order of meaning (docs/isa.md,
// "A program and its time"). One instruction a cycle as long as every queue has room, and one cycle more for each loop.
//
//   StIdle ─ a token is decided on ─► StEnter ─ loop that runs ─► StRun ─ its last instruction ─► StEnter …
//                                      │  └ loop left out ─► StNext ─► StEnter
//                                      └ no more loops ─► StDrain ─ all have their times ─► StIdle
//
// Relies on memories that answer in fixed cycles: a loop one cycle after `loop_address_o`, an instruction FetchCycles
// after `fetch_o`; in StIdle the memory shows loop 0 all the time.
module lpu_walker #(
  parameter int ProgramInstructions = 64,
  localparam int LoopBits = lpu_sequencer_pkg::LoopBits,
  localparam int LoopAddressBits = $clog2(lpu_sequencer_pkg::MaxLoops)
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       stop_i,
  // a token
  input  logic                       walk_valid_i,
  output logic                       walk_take_o,
  input  logic                       walk_with_head_i,
  output logic                       busy_o,
  // loops
  input  logic [15:0]                loops_i,            // their count
  output logic [LoopAddressBits-1:0] loop_address_o,
  input  logic [LoopBits-1:0]        loop_i,
  // program memory
  input  logic                       room_i,             // in all queues
  output logic                       fetch_o,
  output logic [15:0]                fetch_address_o,
  // beside the instruction that the memory shows
  output logic                       instruction_valid_o,
  output logic [15:0]                iteration_o,
  output logic [15:0]                pc_o,
  output logic [19:0]                index_o,            // run of the token
  output logic                       enters_loop_o,      // the loop's first run
  output logic [71:0]                entry_rows_o,       // delay-table rows of the loop: MVU, VPU, SMX
  output logic                       error_o             // no such loops
);
  // The last instruction's time is on its way for six cycles more.
  localparam int DrainCycles = 6;
  localparam int MaxLoops = lpu_sequencer_pkg::MaxLoops;

  typedef enum logic [2:0] {StIdle, StEnter, StNext, StRun, StDrain} state_t;
  state_t state_q;
  logic with_head_q, any_q, first_run_q, checks_q;
  logic [2:0] drain_q;
  logic [LoopAddressBits:0] loop_number_q;
  logic [19:0] first_q, count_q, pc_q, left_q, index_q;     // left: instructions of the iteration after this one
  logic [15:0] iteration_q, last_iteration_q;
  logic [71:0] entry_rows_q;

  assign loop_address_o = loop_number_q[LoopAddressBits-1:0];
  assign walk_take_o = state_q == StIdle && walk_valid_i && !stop_i;
  assign busy_o = state_q != StIdle;
  assign fetch_o = state_q == StRun && room_i && !stop_i;
  assign fetch_address_o = pc_q[15:0];

  logic no_loops, left_out;
  logic [19:0] loop_first, loop_count;
  logic [15:0] loop_iterations;
  assign no_loops = 16'(loop_number_q) == loops_i;
  assign loop_first = loop_i[lpu_pkg::LoopFirstInstructionLsb+:20];
  assign loop_count = loop_i[lpu_pkg::LoopInstructionCountLsb+:20];
  assign loop_iterations = loop_i[lpu_pkg::LoopIterationsLsb+:16];
  assign left_out = (loop_i[lpu_pkg::LoopIsHeadLsb] && !with_head_q) || loop_count == 20'd0 || loop_iterations == 16'd0;

  always_ff @(posedge clk_i) begin
    error_o <= 1'b0;
    checks_q <= 1'b0;
    // The loop's end is looked at a cycle after it was entered; what was fetched until then goes nowhere.
    if (checks_q && 21'(first_q) + 21'(count_q) > 21'(ProgramInstructions)) error_o <= 1'b1;
    unique case (state_q)
      StIdle: begin
        with_head_q <= walk_with_head_i;
        index_q <= 20'd0;
        any_q <= 1'b0;
        if (walk_take_o) begin
          state_q <= StEnter;
          error_o <= loops_i == 16'd0 || loops_i > 16'(MaxLoops);
        end
      end
      StEnter: begin
        first_q <= loop_first;
        count_q <= loop_count;
        pc_q <= loop_first;
        left_q <= loop_count - 20'd1;
        iteration_q <= 16'd0;
        last_iteration_q <= loop_iterations - 16'd1;
        entry_rows_q <= loop_i[lpu_pkg::LoopEntryDelayMvuLsb+:72];
        first_run_q <= 1'b1;
        drain_q <= 3'(DrainCycles - 1);
        if (no_loops) begin
          state_q <= StDrain;
          loop_number_q <= '0;
          error_o <= !any_q;
        end else begin
          state_q <= left_out ? StNext : StRun;
          checks_q <= !left_out;
          loop_number_q <= loop_number_q + (LoopAddressBits + 1)'(1);
        end
      end
      StNext: state_q <= StEnter;   // the memory is reading
      StRun:
        if (fetch_o) begin
          any_q <= 1'b1;
          first_run_q <= 1'b0;
          index_q <= index_q + 20'd1;
          pc_q <= pc_q + 20'd1;
          left_q <= left_q - 20'd1;
          if (left_q == 20'd0) begin
            pc_q <= first_q;
            left_q <= count_q - 20'd1;
            iteration_q <= iteration_q + 16'd1;
            if (iteration_q == last_iteration_q) state_q <= StEnter;
          end
        end
      StDrain: begin
        drain_q <= drain_q - 3'd1;
        if (drain_q == 3'd0) state_q <= StIdle;
      end
      default: state_q <= StIdle;
    endcase
    if (!rst_ni) begin
      state_q <= StIdle;
      loop_number_q <= '0;
      error_o <= 1'b0;
      checks_q <= 1'b0;
    end
  end

  // ---- beside the memory's cycles
  lpu_delay #(.Width(1), .Cycles(lpu_sequencer_pkg::FetchCycles), .HasReset(1'b1)) u_valid (
    .clk_i, .rst_ni, .value_i(fetch_o), .value_o(instruction_valid_o)
  );
  lpu_delay #(.Width(16 + 16 + 20 + 1 + 72), .Cycles(lpu_sequencer_pkg::FetchCycles)) u_beside (
    .clk_i, .rst_ni, .value_i({iteration_q, fetch_address_o, index_q, first_run_q, entry_rows_q}),
    .value_o({iteration_o, pc_o, index_o, enters_loop_o, entry_rows_o})
  );
endmodule
