// Receives vectors from another card and gives their blocks to the schedule: beats of an AXI-Stream that is never held
// up, a deskew queue, and the question in each cycle in which the schedule takes a block whether it is there.
// The schedule says which vector it expects; vector_ready_o is the event at which it anchors its time: the vector's
// first block came MarginCycles ago, so that the drift of two clocks over a token and the jitter of the link are
// absorbed by the queue. Blocks go out before their vector's check is known (cut through): a token may leave only
// after checked_o has come for each of its vectors (docs/units/link.md has the protocol, step by step).
// The first error stays, with what was expected and what came, and stops everything until a reset.
// Relies on lpu_link_parse, lpu_ram_1r1w, lpu_fifo, lpu_delay.
module lpu_link_receive #(
  parameter int StreamBits = 256,      // 32, 64, 128, 256 or 512
  parameter int DeskewBlocks = 64,     // a power of two
  parameter int QueuedVectors = 16,    // headers that came and whose last block isn't taken; a power of two
  parameter int MarginCycles = 32,
  parameter int TrailerCycles = 256    // from a vector's last take to its check, at most
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // AXI-Stream
  input  logic [StreamBits-1:0]             tdata_i,
  input  logic                              tvalid_i,
  input  logic                              tlast_i,
  output logic                              tready_o,           // always, but in reset
  // the schedule
  input  logic                              expect_i,           // the next vector to take; from the last take on
  input  logic [3:0]                        expect_kind_i,
  input  logic [11:0]                       expect_blocks_i,
  input  logic [23:0]                       expect_deadline_i,  // cycles from expect_i to vector_ready_o, at most; 1…
  output logic                              vector_ready_o,     // from the anchor to the vector's last take
  input  logic                              take_i,
  output logic                              block_valid_o,      // LinkTakeCycles after take_i
  output logic [lpu_pkg::LinkBlockBits-1:0] block_o,
  output logic                              checked_o,          // for a cycle: this vector was right, all of it
  output logic [15:0]                       checked_vector_o,   // its number
  // the first error since reset
  output logic [7:0]                        error_o,            // a lpu_pkg::LinkError…
  output logic [15:0]                       error_expected_o,
  output logic [15:0]                       error_got_o
);
  localparam int BlockBits = lpu_pkg::LinkBlockBits;
  localparam int BlockBeats = BlockBits / StreamBits;
  localparam int PlaceBits = $clog2(DeskewBlocks);
  localparam int VectorBits = $clog2(QueuedVectors);
  localparam int TimerBits = $clog2(TrailerCycles + 1);

  if (StreamBits < 32 || StreamBits > 512 || StreamBits != 1 << $clog2(StreamBits)) begin : gen_check_stream
    $error("lpu_link_receive: StreamBits must be a power of two from 32 to 512");
  end
  if (DeskewBlocks < 2 || DeskewBlocks != 1 << PlaceBits || MarginCycles < 0 || TrailerCycles < 1) begin : gen_check
    $error("lpu_link_receive: DeskewBlocks must be a power of two, at least 2; MarginCycles 0, TrailerCycles 1 or more");
  end

  logic halted;
  assign halted = error_o != 8'(lpu_pkg::LinkErrorNone);
  always_ff @(posedge clk_i) tready_o <= rst_ni;

  // ---- what arrives
  logic                  header_comes, block_done, first_done;
  logic [15:0]           head;
  logic [BlockBeats-1:0] part_write;
  logic [StreamBits-1:0] part;
  logic [7:0]            parse_error;
  logic [15:0]           parse_expected, parse_got;
  lpu_link_parse #(.StreamBits(StreamBits)) u_parse (
    .clk_i, .rst_ni, .halt_i(halted), .tdata_i, .tvalid_i(tvalid_i && tready_o), .tlast_i,
    .header_o(header_comes), .head_o(head), .part_write_o(part_write), .part_o(part), .block_done_o(block_done),
    .first_done_o(first_done), .checked_o, .checked_vector_o,
    .error_o(parse_error), .error_expected_o(parse_expected), .error_got_o(parse_got)
  );

  // ---- the deskew queue: a block needs its place from its first beat on, and can be taken when its last one is in
  logic [PlaceBits-1:0] write_q, read_q;
  logic [PlaceBits:0]   filled_q;
  logic                 takes, overflows;
  logic [VectorBits:0]  headers;
  logic                 headers_full, ends;
  logic [15:0]          first_head;
  assign overflows = (part_write != '0 && filled_q[PlaceBits]) || (header_comes && headers_full);
  lpu_ram_1r1w #(.Width(BlockBits), .Depth(DeskewBlocks), .PartBits(StreamBits)) u_blocks (
    .clk_i, .write_i(filled_q[PlaceBits] ? '0 : part_write), .write_address_i(write_q),
    .write_data_i({BlockBeats{part}}), .read_i(takes), .read_address_i(read_q), .read_data_o(block_o)
  );
  lpu_fifo #(.Width(16), .Depth(QueuedVectors)) u_headers (
    .clk_i, .rst_ni, .push_i(header_comes), .data_i(head), .pop_i(ends), .data_o(first_head), .count_o(headers),
    .full_o(headers_full)
  );
  logic                margin_passes;
  logic [VectorBits:0] ready_q;        // vectors whose first block came MarginCycles ago, not wholly taken
  lpu_delay #(.Cycles(MarginCycles), .HasReset(1'b1)) u_margin (
    .clk_i, .rst_ni, .value_i(first_done), .value_o(margin_passes)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q <= '0;
      filled_q <= '0;
      ready_q <= '0;
    end else begin
      if (block_done) write_q <= write_q + 1'b1;
      if (takes) read_q <= read_q + 1'b1;
      filled_q <= filled_q + (PlaceBits + 1)'(block_done) - (PlaceBits + 1)'(takes);
      ready_q <= ready_q + (VectorBits + 1)'(margin_passes) - (VectorBits + 1)'(ends);
    end
  end

  // ---- what the schedule expects and takes
  logic        open_q;                 // a vector is expected, or being taken
  logic [15:0] expected_q;             // its {kind, blocks}
  logic [11:0] left_q;                 // its blocks that aren't taken
  logic [23:0] deadline_q;
  logic [15:0] vector_q;               // its number
  logic        mismatches, late, meddles;
  assign mismatches = open_q && headers != '0 && first_head != expected_q;
  assign vector_ready_o = open_q && ready_q != '0 && !mismatches && !halted;
  assign takes = take_i && vector_ready_o && filled_q != '0;
  assign ends = takes && left_q == 12'd1;
  assign meddles = expect_i && open_q && !ends;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q <= 1'b0;
      vector_q <= '0;
      block_valid_o <= 1'b0;
    end else begin
      if (expect_i) open_q <= 1'b1;
      else if (ends) open_q <= 1'b0;
      if (ends) vector_q <= vector_q + 16'd1;
      block_valid_o <= takes;
    end
    if (expect_i) begin
      expected_q <= {expect_kind_i, expect_blocks_i};
      left_q <= expect_blocks_i;
      deadline_q <= expect_deadline_i;
    end else begin
      if (takes) left_q <= left_q - 12'd1;
      if (deadline_q != '0) deadline_q <= deadline_q - 24'd1;
    end
  end

  // ---- a vector that is taken must be checked soon
  logic [VectorBits+1:0] ahead_q;      // checks before takes of a vector, signed: negative, one is owed
  logic [TimerBits-1:0]  owed_q;       // for how long
  logic                  owes;
  assign owes = ahead_q[VectorBits+1];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ahead_q <= '0;
    else ahead_q <= ahead_q + (VectorBits + 2)'(checked_o) - (VectorBits + 2)'(ends);
    if (!rst_ni || !owes) owed_q <= '0;
    else if (owed_q != TimerBits'(TrailerCycles)) owed_q <= owed_q + 1'b1;
  end
  assign late = (take_i && !takes) || (open_q && !vector_ready_o && deadline_q <= 24'd1) ||
                (owes && owed_q == TimerBits'(TrailerCycles));

  // ---- the first error: what arrives goes before what is missed, and that before what follows from it
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      error_o <= 8'(lpu_pkg::LinkErrorNone);
    end else if (!halted) begin
      error_expected_o <= vector_q;
      error_got_o <= {4'd0, left_q};
      if (parse_error != 8'(lpu_pkg::LinkErrorNone)) begin
        error_o <= parse_error;
        error_expected_o <= parse_expected;
        error_got_o <= parse_got;
      end else if (overflows) begin
        error_o <= 8'(lpu_pkg::LinkErrorOverflow);
      end else if (late && !mismatches) begin
        error_o <= 8'(lpu_pkg::LinkErrorLate);
      end else if (mismatches || meddles) begin
        error_o <= 8'(lpu_pkg::LinkErrorFormat);
        error_expected_o <= expected_q;
        error_got_o <= first_head;
      end
    end
  end
endmodule
