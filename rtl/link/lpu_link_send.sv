// Sends vectors to another card: takes their blocks of 32 binary32 values as the vector unit makes them, at most one a
// cycle, and gives them out as beats of an AXI-Stream with header, number and check (hls/contract/link.hpp). The stream
// is narrower than a block and may stall, the vector unit doesn't wait: blocks lie in a queue between the two.
// A vector's first block in cycle c: its header's first beat is on the stream in c + LinkSendCycles, its data beats
// follow without gaps, unless the stream stalls or the vector unit is slower than it.
// Relies on lpu_ram_1r1w, lpu_fifo, lpu_link_crc. The first error stops the stream before the vector's trailer: what was
// taken wrongly never has a check that is right.
module lpu_link_send #(
  parameter int StreamBits = 256,     // 32, 64, 128, 256 or 512
  parameter int QueuedBlocks = 64,    // a power of two
  parameter int QueuedVectors = 16    // that have begun and whose header waits; a power of two
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  // from the vector unit
  input  logic                               send_valid_i,
  input  logic [lpu_pkg::LinkBlockBits-1:0]  send_block_i,
  input  logic                               send_first_i,   // of its vector
  input  logic                               send_last_i,
  input  logic [3:0]                         send_kind_i,    // with the first block
  input  logic [11:0]                        send_blocks_i,  // with the first block: 1…MaxLinkBlocks
  // AXI-Stream
  output logic [StreamBits-1:0]              tdata_o,
  output logic                               tvalid_o,
  output logic                               tlast_o,
  input  logic                               tready_i,
  output logic [7:0]                         error_o         // a lpu_pkg::LinkError…, the first since reset
);
  localparam int BlockBits = lpu_pkg::LinkBlockBits;
  localparam int BlockBeats = BlockBits / StreamBits;
  localparam int BeatBits = $clog2(BlockBeats);
  localparam int PlaceBits = $clog2(QueuedBlocks);
  localparam int VectorBits = $clog2(QueuedVectors);
  localparam bit TwoBeatHeader = StreamBits < lpu_pkg::LinkHeaderBits;

  if (StreamBits < 32 || StreamBits > 512 || StreamBits != 1 << $clog2(StreamBits)) begin : gen_check_stream
    $error("lpu_link_send: StreamBits must be a power of two from 32 to 512");
  end
  if (QueuedBlocks < 2 || QueuedBlocks != 1 << PlaceBits) begin : gen_check_queue
    $error("lpu_link_send: QueuedBlocks must be a power of two, at least 2");
  end

  logic halted;
  assign halted = error_o != 8'(lpu_pkg::LinkErrorNone);

  // ---- what comes from the vector unit: blocks into their queue, a vector's header into its own
  logic                 inside_q;      // a vector has begun and not ended
  logic [11:0]          number_q;      // blocks of it that came
  logic [11:0]          blocks_q;
  logic [11:0]          number, blocks;
  logic                 wrong_format, overflows, takes;
  logic [VectorBits:0]  headers;
  logic                 headers_full;
  logic [PlaceBits:0]   filled_q;      // blocks in the queue that aren't read
  assign number = send_first_i ? 12'd1 : number_q + 12'd1;
  assign blocks = send_first_i ? send_blocks_i : blocks_q;
  assign wrong_format = send_valid_i && (send_first_i == inside_q || send_last_i != (number == blocks) ||
                                         (send_first_i && (send_blocks_i == 12'd0 ||
                                                           send_blocks_i > 12'(lpu_pkg::MaxLinkBlocks))));
  assign overflows = send_valid_i && (filled_q[PlaceBits] || (send_first_i && headers_full));
  assign takes = send_valid_i && !wrong_format && !overflows && !halted;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      error_o <= 8'(lpu_pkg::LinkErrorNone);
    end else begin
      if (takes) inside_q <= !send_last_i;
      if (!halted && wrong_format) error_o <= 8'(lpu_pkg::LinkErrorFormat);
      else if (!halted && overflows) error_o <= 8'(lpu_pkg::LinkErrorOverflow);
    end
    if (takes) begin
      number_q <= number;
      blocks_q <= blocks;
    end
  end

  logic [PlaceBits-1:0] write_q, read_q;
  logic                 reads;
  logic [BlockBits-1:0] block;         // the one whose beats go out, as long as held_q
  lpu_ram_1r1w #(.Width(BlockBits), .Depth(QueuedBlocks)) u_blocks (
    .clk_i, .write_i(takes), .write_address_i(write_q), .write_data_i(send_block_i),
    .read_i(reads), .read_address_i(read_q), .read_data_o(block)
  );
  logic        header_taken;
  logic [15:0] head;                   // {kind, blocks} of the vector that goes out
  lpu_fifo #(.Width(16), .Depth(QueuedVectors)) u_headers (
    .clk_i, .rst_ni, .push_i(takes && send_first_i), .data_i({send_kind_i, send_blocks_i}),
    .pop_i(header_taken), .data_o(head), .count_o(headers), .full_o(headers_full)
  );

  // ---- the beats in their order; all stages wait while the stream does
  typedef enum logic [1:0] {StHeader, StHeaderRest, StData, StTrailer} state_e;
  state_e              state_q;
  logic [BeatBits-1:0] beat_q;         // of the block
  logic [11:0]         left_q;         // blocks of the vector
  logic [15:0]         sequence_q;
  logic                held_q;
  logic                advance;
  logic                block_ends;     // its last beat leaves
  logic                slot_valid;
  logic [63:0]         header;
  logic [StreamBits-1:0] slot;
  assign advance = !tvalid_o || tready_i;
  assign header = {~(16'(lpu_pkg::LinkMagic) ^ head ^ sequence_q), sequence_q, head, 16'(lpu_pkg::LinkMagic)};
  assign block_ends = advance && state_q == StData && held_q && !halted && &beat_q;
  assign reads = filled_q != '0 && (!held_q || block_ends);
  assign header_taken = advance && state_q == StTrailer && !halted;
  always_comb begin
    slot_valid = !halted;
    slot = '0;
    unique case (state_q)
      StHeader: begin
        slot_valid = !halted && headers != '0;
        slot = StreamBits'(header);
      end
      StHeaderRest: slot = StreamBits'(header[63:32]);
      StData: begin
        slot_valid = !halted && held_q;
        slot = block[32'(beat_q)*StreamBits+:StreamBits];
      end
      default: slot = '0;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StHeader;
      sequence_q <= '0;
      beat_q <= '0;
      held_q <= 1'b0;
      filled_q <= '0;
      write_q <= '0;
      read_q <= '0;
    end else begin
      if (takes) write_q <= write_q + 1'b1;
      if (reads) read_q <= read_q + 1'b1;
      filled_q <= filled_q + (PlaceBits + 1)'(takes) - (PlaceBits + 1)'(reads);
      held_q <= reads || (held_q && !block_ends);
      if (advance && slot_valid)
        unique case (state_q)
          StHeader: state_q <= TwoBeatHeader ? StHeaderRest : StData;
          StHeaderRest: state_q <= StData;
          StData: begin
            beat_q <= beat_q + 1'b1;
            if (&beat_q && left_q == 12'd1) state_q <= StTrailer;
          end
          default: begin
            state_q <= StHeader;
            sequence_q <= sequence_q + 16'd1;
          end
        endcase
    end
    if (state_q == StHeader) left_q <= head[11:0];
    else if (block_ends) left_q <= left_q - 12'd1;
  end

  // ---- three stages: the beat picked; its share of the check; the stream's register, where the trailer gets its check
  logic                  picked_valid_q, picked_first_q, picked_trailer_q;
  logic [StreamBits-1:0] picked_q;
  logic                  shared_valid_q, shared_trailer_q;
  logic [StreamBits-1:0] shared_q;
  logic [31:0]           crc;
  lpu_link_crc #(.StreamBits(StreamBits)) u_crc (
    .clk_i, .advance_i(advance), .valid_i(picked_valid_q && !picked_trailer_q), .first_i(picked_first_q),
    .beat_i(picked_q), .crc_o(crc)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      picked_valid_q <= 1'b0;
      shared_valid_q <= 1'b0;
      tvalid_o <= 1'b0;
    end else if (advance) begin
      picked_valid_q <= slot_valid;
      shared_valid_q <= picked_valid_q;
      tvalid_o <= shared_valid_q;
    end
    if (advance) begin
      picked_q <= slot;
      picked_first_q <= state_q == StHeader;
      picked_trailer_q <= state_q == StTrailer;
      shared_q <= picked_q;
      shared_trailer_q <= picked_trailer_q;
      tdata_o <= shared_trailer_q ? StreamBits'(crc) : shared_q;
      tlast_o <= shared_trailer_q;
    end
  end
endmodule
