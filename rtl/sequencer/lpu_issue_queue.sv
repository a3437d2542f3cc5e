// The instructions of one unit that wait for their cycle, in order. The bits that the unit needs come early and lie in a
// memory; the cycle in which to hand them over comes when the delay is known, and lies in a small array beside it.
// An instruction whose time is `moment` is shown on the port in the cycle after the counter reads `moment`, and issues
// `Lead` cycles after that. Relies on the walker leaving room, and on times that grow; one that was missed is late.
module lpu_issue_queue #(
  parameter int Width = 32,
  parameter int Entries = 32,
  parameter int Lead = 8,
  localparam int TimeBits = lpu_sequencer_pkg::TimeBits,
  localparam int PointerBits = $clog2(Entries)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                stop_i,          // hand over nothing more
  input  logic [TimeBits-1:0] now_i,
  // the instruction, and some cycles later its time
  input  logic                push_i,
  input  logic [Width-1:0]    payload_i,
  input  logic [15:0]         pc_i,
  input  logic                time_push_i,
  input  logic [TimeBits-1:0] time_i,
  input  logic [19:0]         index_i,
  output logic                room_o,          // for one more, beside those between program memory and queue
  // handed over
  output logic                valid_o,
  output logic [Width-1:0]    payload_o,
  output logic [19:0]         index_o,
  // in the issue cycle
  output logic                issue_o,
  output logic [19:0]         issue_index_o,
  output logic [15:0]         issue_pc_o,
  // the oldest one's time has passed
  output logic                late_o,
  output logic [19:0]         late_index_o
);
  if (Entries < 4 || 2 ** PointerBits != Entries) begin : gen_check
    $error("lpu_issue_queue: Entries must be a power of two, at least 4");
  end

  // Pointers have one bit more than places have, so that full differs from empty.
  logic [PointerBits:0] write_q, time_write_q, read_q, used;
  assign used = write_q - read_q;
  assign room_o = used <= (PointerBits + 1)'(Entries - 1 - lpu_sequencer_pkg::FetchCycles);

  // ---- times
  (* ram_style = "distributed" *)
  logic [TimeBits+20-1:0] times[Entries];
  logic [TimeBits-1:0] head_time, behind;
  logic [19:0] head_index;
  logic head_valid, hand_over;
  always_ff @(posedge clk_i)
    if (time_push_i) times[time_write_q[PointerBits-1:0]] <= {index_i, time_i};
  assign {head_index, head_time} = times[read_q[PointerBits-1:0]];
  assign head_valid = read_q != time_write_q;
  assign hand_over = head_valid && head_time == now_i && !stop_i;
  assign behind = head_time - now_i;

  always_ff @(posedge clk_i) begin
    valid_o <= hand_over;
    index_o <= head_index;
    late_o <= head_valid && behind[TimeBits-1] && !stop_i;
    late_index_o <= head_index;
    if (push_i) write_q <= write_q + (PointerBits + 1)'(1);
    if (time_push_i) time_write_q <= time_write_q + (PointerBits + 1)'(1);
    if (hand_over) read_q <= read_q + (PointerBits + 1)'(1);
    if (!rst_ni) begin
      valid_o <= 1'b0;
      late_o <= 1'b0;
      write_q <= '0;
      time_write_q <= '0;
      read_q <= '0;
    end
  end

  // ---- instructions
  logic [15:0] pc;
  lpu_ram_1r1w #(.Width(Width + 16), .Depth(Entries)) u_payloads (
    .clk_i,
    .write_i(push_i),
    .write_address_i(write_q[PointerBits-1:0]),
    .write_data_i({pc_i, payload_i}),
    .read_i(hand_over),
    .read_address_i(read_q[PointerBits-1:0]),
    .read_data_o({pc, payload_o})
  );

  // ---- the issue cycle
  lpu_delay #(.Width(1), .Cycles(Lead), .HasReset(1'b1)) u_issue (
    .clk_i, .rst_ni, .value_i(valid_o), .value_o(issue_o)
  );
  lpu_delay #(.Width(36), .Cycles(Lead)) u_issue_what (
    .clk_i, .rst_ni, .value_i({pc, index_o}), .value_o({issue_pc_o, issue_index_o})
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni) begin
      assert (!push_i || used < (PointerBits + 1)'(Entries)) else $error("%m: an instruction for a full queue");
      assert (!time_push_i || time_write_q != write_q) else $error("%m: a time without an instruction");
    end
`endif
endmodule
