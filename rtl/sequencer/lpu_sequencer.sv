// The sequencer (docs/units/sequencer.md): holds the program and hands every instruction to its unit exactly `lead`
// cycles before the cycle in which the schedule has it issue. It knows nothing of what instructions do: a time is the
// time of the unit's instruction before it, plus a delay (docs/isa.md, "A program and its time").
//
//   loops → walker → program memory → times (delay table) → a queue per unit → units
//              ▲                         │ length
//           token control ◄──────────────┘   ◄ commands, next token
//
// Relies on a host that loads while nothing runs, and on a program that check_program() would accept; what it can see
// of one that isn't, it reports, and stops.
module lpu_sequencer #(
  parameter int ProgramInstructions = 4096,
  parameter int DelayEntries = 65536,
  parameter int QueueEntries = 32,
  localparam int InstructionBits = lpu_pkg::InstructionBits
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       halt_i,               // an error elsewhere: stop; only a reset starts again
  // load: element number, and the element in the low bits
  input  logic                       load_instruction_i,
  input  logic                       load_loop_i,
  input  logic                       load_delay_i,
  input  logic [23:0]                load_address_i,
  input  logic [InstructionBits-1:0] load_data_i,
  // constants of the program
  input  logic [15:0]                loops_i,
  input  logic [15:0]                length_steps_i,
  input  logic [23:0]                cycles_with_head_i,
  input  logic [23:0]                cycles_without_head_i,
  // commands
  input  logic                       command_valid_i,
  input  logic [23:0]                command_token_i,
  input  logic [15:0]                command_position_i,
  input  logic                       command_with_head_i,
  input  logic                       command_samples_i,
  input  logic [31:0]                command_inverse_temperature_i,
  input  logic [63:0]                command_seed_i,
  input  logic [15:0]                command_follow_i,
  output logic                       command_take_o,
  // the running choice
  input  logic                       next_valid_i,
  input  logic [23:0]                next_token_i,
  // to the units: an instruction, `lead` cycles before its issue
  output logic                       mvu_valid_o,
  output logic [InstructionBits-1:0] mvu_instruction_o,
  output logic [15:0]                mvu_iteration_o,
  output logic [19:0]                mvu_index_o,
  output logic                       vpu_valid_o,
  output logic [InstructionBits-1:0] vpu_instruction_o,
  output logic [15:0]                vpu_iteration_o,
  output logic [19:0]                vpu_index_o,
  output logic                       smx_valid_o,
  output logic [InstructionBits-1:0] smx_instruction_o,
  output logic [15:0]                smx_iteration_o,
  output logic [19:0]                smx_index_o,
  // in the issue cycle
  output logic                       mvu_issue_o,
  output logic [19:0]                mvu_issue_index_o,
  output logic [15:0]                mvu_issue_pc_o,
  output logic                       vpu_issue_o,
  output logic [19:0]                vpu_issue_index_o,
  output logic [15:0]                vpu_issue_pc_o,
  output logic                       smx_issue_o,
  output logic [19:0]                smx_issue_index_o,
  output logic [15:0]                smx_issue_pc_o,
  // the token, from its first cycle to the next one's
  output logic                       token_start_o,
  output logic                       busy_o,
  output logic [23:0]                token_o,
  output logic [23:0]                token_early_o,
  output logic [15:0]                position_o,
  output logic [15:0]                blocks_o,
  output logic                       with_head_o,
  output logic                       samples_o,
  output logic [31:0]                inverse_temperature_o,
  output logic [63:0]                seed_o,
  output logic                       token_end_o,
  output logic [23:0]                token_next_o,
  output logic                       token_with_head_o,
  output logic [15:0]                token_position_o,
  // the first error
  output logic [7:0]                 error_o,
  output logic [19:0]                error_index_o
);
  localparam int LoopBits = lpu_sequencer_pkg::LoopBits;
  localparam int MaxLoops = lpu_sequencer_pkg::MaxLoops;
  localparam int TimeBits = lpu_sequencer_pkg::TimeBits;
  localparam int OpcodeBits = lpu_pkg::CommonOpcodeWidth;
  localparam int FirstField = lpu_pkg::CommonDelayByLengthLsb + lpu_pkg::CommonDelayByLengthWidth;
  // Up to the last field that the unit reads: a matvec's `finish` is for schedules, the vector unit's `receivers` and a
  // loop's phase for links, which the core doesn't have yet.
  localparam int MvuBits = lpu_pkg::MatvecFinishLsb - FirstField;
  localparam int VpuBits = lpu_pkg::VectorGridStrideLsb + lpu_pkg::VectorGridStrideWidth - FirstField;
  localparam int SmxBits = lpu_pkg::SoftmaxGridStrideLsb + lpu_pkg::SoftmaxGridStrideWidth - FirstField;
  localparam int ProgramBits = FirstField + VpuBits;
  localparam int ProgramAddressBits = (ProgramInstructions > 1) ? $clog2(ProgramInstructions) : 1;
  localparam int DelayAddressBits = (DelayEntries > 1) ? $clog2(DelayEntries) : 1;

  if (ProgramInstructions < 1 || ProgramInstructions > 65536 || DelayEntries < 1 || DelayEntries > 4194304)
  begin : gen_check_depths
    $error("lpu_sequencer: ProgramInstructions must be 1 to 65536, DelayEntries 1 to 4194304");
  end
  if (MvuBits > VpuBits || SmxBits > VpuBits || LoopBits != lpu_pkg::LoopEntryDelaySmxLsb + 24 || FirstField != 29 ||
      lpu_pkg::LoopEntryDelayVpuLsb != lpu_pkg::LoopEntryDelayMvuLsb + 24 ||
      lpu_pkg::LoopEntryDelaySmxLsb != lpu_pkg::LoopEntryDelayMvuLsb + 48) begin : gen_check_fields
    $error("lpu_sequencer: the contract's fields lie elsewhere");
  end
  if (lpu_sequencer_pkg::MvuLead != lpu_mvu_pkg::DecodeCycles) begin : gen_check_lead
    $error("lpu_sequencer: the MVU wants its instructions at another time");
  end

  // ---- errors: the first one stays, and stops everything
  logic stop, halted_q;
  logic walker_error;
  logic [7:0] times_error, control_error;
  logic [19:0] times_error_index;
  logic [2:0] late;
  logic [3*20-1:0] late_index;
  logic load_outside;
  assign stop = halt_i || halted_q || error_o != 8'(lpu_pkg::ErrorNone);
  always_ff @(posedge clk_i) begin
    halted_q <= halt_i || halted_q;
    if (!stop) begin
      error_index_o <= 20'd0;
      if (load_outside) error_o <= 8'(lpu_pkg::ErrorLoad);
      if (control_error != 8'(lpu_pkg::ErrorNone)) error_o <= control_error;
      if (walker_error) error_o <= 8'(lpu_pkg::ErrorLoops);
      if (times_error != 8'(lpu_pkg::ErrorNone)) begin
        error_o <= times_error;
        error_index_o <= times_error_index;
      end
      for (int unit = 0; unit < 3; unit++)
        if (late[unit]) begin
          error_o <= 8'(lpu_pkg::ErrorLate);
          error_index_o <= late_index[unit*20+:20];
        end
    end
    if (!rst_ni) begin
      halted_q <= 1'b0;
      error_o <= 8'(lpu_pkg::ErrorNone);
      error_index_o <= 20'd0;
    end
  end

  // ---- load, through one register
  logic load_instruction_q, load_loop_q, load_delay_q;
  logic [23:0] load_address_q;
  logic [ProgramBits-1:0] load_data_q;
  always_ff @(posedge clk_i) begin
    load_instruction_q <= load_instruction_i && load_address_i < 24'(ProgramInstructions) && rst_ni;
    load_loop_q <= load_loop_i && load_address_i < 24'(MaxLoops) && rst_ni;
    load_delay_q <= load_delay_i && load_address_i < 24'(DelayEntries) && rst_ni;
    load_outside <= ((load_instruction_i && load_address_i >= 24'(ProgramInstructions)) ||
                     (load_loop_i && load_address_i >= 24'(MaxLoops)) ||
                     (load_delay_i && load_address_i >= 24'(DelayEntries))) && rst_ni;
    load_address_q <= load_address_i;
    if (load_instruction_i || load_loop_i || load_delay_i) load_data_q <= load_data_i[ProgramBits-1:0];
  end

  // ---- tokens
  logic [TimeBits-1:0] now, walk_start;
  logic walk_valid, walk_take, walk_with_head, walk_busy, length_valid;
  logic [10:0] walk_column;
  logic [31:0] length;
  lpu_token_control u_control (
    .clk_i, .rst_ni, .stop_i(stop), .now_o(now), .command_valid_i, .command_token_i, .command_position_i,
    .command_with_head_i, .command_samples_i, .command_inverse_temperature_i, .command_seed_i, .command_follow_i,
    .command_take_o, .next_valid_i, .next_token_i, .walk_valid_o(walk_valid), .walk_take_i(walk_take),
    .walk_with_head_o(walk_with_head), .walk_column_o(walk_column), .walk_start_o(walk_start),
    .walk_busy_i(walk_busy), .length_valid_i(length_valid), .length_i(length), .token_start_o, .busy_o, .token_o,
    .token_early_o, .position_o, .blocks_o, .with_head_o, .samples_o, .inverse_temperature_o, .seed_o, .token_end_o,
    .token_next_o, .token_with_head_o, .token_position_o, .error_o(control_error)
  );

  // ---- loops
  logic [$clog2(MaxLoops)-1:0] loop_address;
  logic [LoopBits-1:0] loop_data;
  lpu_ram_1r1w #(.Width(LoopBits), .Depth(MaxLoops)) u_loops (
    .clk_i, .write_i(load_loop_q), .write_address_i(load_address_q[$clog2(MaxLoops)-1:0]),
    .write_data_i(load_data_q[LoopBits-1:0]), .read_i(!load_loop_q), .read_address_i(loop_address),
    .read_data_o(loop_data)
  );

  logic [2:0] room;
  logic fetch, instruction_valid, enters_loop;
  logic [15:0] fetch_address, iteration, pc;
  logic [19:0] index;
  logic [71:0] entry_rows;
  lpu_walker #(.ProgramInstructions(ProgramInstructions)) u_walker (
    .clk_i, .rst_ni, .stop_i(stop), .walk_valid_i(walk_valid), .walk_take_o(walk_take),
    .walk_with_head_i(walk_with_head), .busy_o(walk_busy), .loops_i, .loop_address_o(loop_address),
    .loop_i(loop_data), .room_i(&room), .fetch_o(fetch), .fetch_address_o(fetch_address),
    .instruction_valid_o(instruction_valid), .iteration_o(iteration), .pc_o(pc), .index_o(index),
    .enters_loop_o(enters_loop), .entry_rows_o(entry_rows), .error_o(walker_error)
  );

  // ---- program
  logic [ProgramBits-1:0] instruction;
  lpu_ram_1r1w #(.Width(ProgramBits), .Depth(ProgramInstructions), .OutputRegister(1'b1)) u_program (
    .clk_i, .write_i(load_instruction_q), .write_address_i(load_address_q[ProgramAddressBits-1:0]),
    .write_data_i(load_data_q), .read_i(fetch), .read_address_i(fetch_address[ProgramAddressBits-1:0]),
    .read_data_o(instruction)
  );

  // ---- times
  logic [2:0] push, time_push;
  logic delay_read;
  logic [DelayAddressBits-1:0] delay_address;
  logic [31:0] delay;
  logic [3*TimeBits-1:0] times;
  logic [19:0] time_index;
  lpu_issue_times #(.DelayEntries(DelayEntries)) u_times (
    .clk_i, .rst_ni, .length_steps_i, .cycles_with_head_i, .cycles_without_head_i, .walk_take_i(walk_take),
    .walk_with_head_i(walk_with_head), .walk_column_i(walk_column), .walk_start_i(walk_start),
    .instruction_valid_i(instruction_valid), .instruction_i(instruction[FirstField-1:0]),
    .enters_loop_i(enters_loop), .entry_rows_i(entry_rows), .index_i(index), .push_o(push),
    .delay_read_o(delay_read), .delay_address_o(delay_address), .delay_i(delay), .time_push_o(time_push),
    .times_o(times), .time_index_o(time_index), .length_valid_o(length_valid), .length_o(length),
    .error_o(times_error), .error_index_o(times_error_index)
  );
  lpu_ram_1r1w #(.Width(32), .Depth(DelayEntries), .OutputRegister(1'b1)) u_delays (
    .clk_i, .write_i(load_delay_q), .write_address_i(load_address_q[DelayAddressBits-1:0]),
    .write_data_i(load_data_q[31:0]), .read_i(delay_read), .read_address_i(delay_address), .read_data_o(delay)
  );

  // ---- queues
  logic [MvuBits-1:0] mvu_fields;
  logic [VpuBits-1:0] vpu_fields;
  logic [OpcodeBits-1:0] vpu_opcode;
  logic [SmxBits-1:0] smx_fields;
  lpu_issue_queue #(.Width(16 + MvuBits), .Entries(QueueEntries), .Lead(lpu_sequencer_pkg::MvuLead)) u_mvu (
    .clk_i, .rst_ni, .stop_i(stop), .now_i(now), .push_i(push[0]),
    .payload_i({iteration, instruction[FirstField+:MvuBits]}), .pc_i(pc), .time_push_i(time_push[0]),
    .time_i(times[0+:TimeBits]), .index_i(time_index), .room_o(room[0]), .valid_o(mvu_valid_o),
    .payload_o({mvu_iteration_o, mvu_fields}), .index_o(mvu_index_o), .issue_o(mvu_issue_o),
    .issue_index_o(mvu_issue_index_o), .issue_pc_o(mvu_issue_pc_o), .late_o(late[0]),
    .late_index_o(late_index[0+:20])
  );
  lpu_issue_queue #(
    .Width(16 + VpuBits + OpcodeBits), .Entries(QueueEntries), .Lead(lpu_sequencer_pkg::VpuLead)
  ) u_vpu (
    .clk_i, .rst_ni, .stop_i(stop), .now_i(now), .push_i(push[1]),
    .payload_i({iteration, instruction[FirstField+:VpuBits], instruction[OpcodeBits-1:0]}), .pc_i(pc),
    .time_push_i(time_push[1]), .time_i(times[TimeBits+:TimeBits]), .index_i(time_index), .room_o(room[1]),
    .valid_o(vpu_valid_o), .payload_o({vpu_iteration_o, vpu_fields, vpu_opcode}), .index_o(vpu_index_o),
    .issue_o(vpu_issue_o), .issue_index_o(vpu_issue_index_o), .issue_pc_o(vpu_issue_pc_o), .late_o(late[1]),
    .late_index_o(late_index[20+:20])
  );
  lpu_issue_queue #(.Width(16 + SmxBits), .Entries(QueueEntries), .Lead(lpu_sequencer_pkg::SmxLead)) u_smx (
    .clk_i, .rst_ni, .stop_i(stop), .now_i(now), .push_i(push[2]),
    .payload_i({iteration, instruction[FirstField+:SmxBits]}), .pc_i(pc), .time_push_i(time_push[2]),
    .time_i(times[2*TimeBits+:TimeBits]), .index_i(time_index), .room_o(room[2]), .valid_o(smx_valid_o),
    .payload_o({smx_iteration_o, smx_fields}), .index_o(smx_index_o), .issue_o(smx_issue_o),
    .issue_index_o(smx_issue_index_o), .issue_pc_o(smx_issue_pc_o), .late_o(late[2]),
    .late_index_o(late_index[40+:20])
  );
  // Words as they lie in the program, without the delay, which has passed.
  localparam int DelayBits = FirstField - OpcodeBits;
  assign mvu_instruction_o = InstructionBits'({mvu_fields, DelayBits'(0), OpcodeBits'(lpu_pkg::OpcodeMatvec)});
  assign vpu_instruction_o = InstructionBits'({vpu_fields, DelayBits'(0), vpu_opcode});
  assign smx_instruction_o = InstructionBits'({smx_fields, DelayBits'(0), OpcodeBits'(lpu_pkg::OpcodeSoftmax)});
endmodule
