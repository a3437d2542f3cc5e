// The arriving half of a link: finds vectors in the beats of an AXI-Stream, checks each header, number and place of
// tlast as it comes, the CRC at a vector's end, and hands data beats on at once (cut through). Part of
// lpu_link_receive, which keeps the first error and stops this one with halt_i.
// A beat on the stream in cycle x is looked at in x + 1; word of a vector's check comes LinkCheckCycles after its
// trailer's beat. Relies on lpu_link_crc, and on a receiver that is always ready: tready isn't here.
module lpu_link_parse #(
  parameter int StreamBits = 256,
  localparam int BlockBeats = lpu_pkg::LinkBlockBits / StreamBits
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  halt_i,
  input  logic [StreamBits-1:0] tdata_i,
  input  logic                  tvalid_i,
  input  logic                  tlast_i,
  // in the cycle after the beat's
  output logic                  header_o,          // a header that is right
  output logic [15:0]           head_o,            // its {kind, blocks}
  output logic [BlockBeats-1:0] part_write_o,      // a data beat: one-hot, which part of its block
  output logic [StreamBits-1:0] part_o,
  output logic                  block_done_o,      // that was the block's last
  output logic                  first_done_o,      // and the block the vector's first
  // after a trailer
  output logic                  checked_o,
  output logic [15:0]           checked_vector_o,
  output logic [7:0]            error_o,           // a lpu_pkg::LinkError… for a cycle
  output logic [15:0]           error_expected_o,
  output logic [15:0]           error_got_o
);
  localparam int BeatBits = $clog2(BlockBeats);
  localparam bit TwoBeatHeader = StreamBits < lpu_pkg::LinkHeaderBits;

  logic [StreamBits-1:0] beat_q;
  logic                  valid_q, last_q;
  logic                  takes;
  assign takes = valid_q && !halt_i;
  always_ff @(posedge clk_i) begin
    beat_q <= tdata_i;
    last_q <= tlast_i;
    valid_q <= rst_ni && tvalid_i;
  end

  // ---- the header, whole
  typedef enum logic [1:0] {StHeader, StHeaderRest, StData, StTrailer} state_e;
  state_e      state_q;
  logic        whole;               // its last beat is here
  logic [63:0] header;
  if (TwoBeatHeader) begin : gen_two_beats
    logic [31:0] low_q;
    always_ff @(posedge clk_i) if (takes && state_q == StHeader) low_q <= beat_q;
    assign header = {beat_q, low_q};
    assign whole = takes && state_q == StHeaderRest;
  end else begin : gen_one_beat
    assign header = beat_q[63:0];
    assign whole = takes && state_q == StHeader;
  end
  logic [15:0] magic, head, number, next_q;
  logic        wrong_magic, wrong_rest, wrong_blocks, wrong_number;
  assign magic = header[lpu_pkg::LinkHeaderMagicLsb+:16];
  assign head = header[lpu_pkg::LinkHeaderBlocksLsb+:16];
  assign number = header[lpu_pkg::LinkHeaderSequenceLsb+:16];
  assign wrong_magic = magic != 16'(lpu_pkg::LinkMagic);
  // The parity of what should be there: flipped bits of the magic don't spoil it.
  assign wrong_rest = header[lpu_pkg::LinkHeaderParityLsb+:16] != ~(16'(lpu_pkg::LinkMagic) ^ head ^ number);
  assign wrong_blocks = head[11:0] == 12'd0 || head[11:0] > 12'(lpu_pkg::MaxLinkBlocks);
  assign wrong_number = number != next_q;

  // ---- beats in their order
  logic [BeatBits-1:0] place_q;       // of the block
  logic [11:0]         left_q;        // blocks of the vector
  logic                first_q;       // the block is the vector's first
  logic                wrong_last, right_header;
  assign wrong_last = takes && last_q != (state_q == StTrailer);
  assign right_header = whole && !wrong_last && !wrong_magic && !wrong_rest && !wrong_blocks && !wrong_number;
  assign header_o = right_header;
  assign head_o = head;
  assign part_write_o = (takes && state_q == StData && !wrong_last) ? BlockBeats'(1) << place_q : '0;
  assign part_o = beat_q;
  assign block_done_o = part_write_o[BlockBeats-1];
  assign first_done_o = block_done_o && first_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StHeader;
      next_q <= '0;
      place_q <= '0;
    end else if (takes) begin
      unique case (state_q)
        StHeader: state_q <= TwoBeatHeader ? StHeaderRest : StData;
        StHeaderRest: state_q <= StData;
        StData: begin
          place_q <= place_q + 1'b1;
          if (&place_q && left_q == 12'd1) state_q <= StTrailer;
        end
        default: state_q <= StHeader;
      endcase
      if (right_header) next_q <= next_q + 16'd1;
    end
    if (whole) begin
      left_q <= head[11:0];
      first_q <= 1'b1;
    end else if (block_done_o) begin
      left_q <= left_q - 12'd1;
      first_q <= 1'b0;
    end
  end

  // ---- the check: the trailer waits a cycle for the last data beat's share
  logic [31:0]           crc;
  logic                  trailer_valid_q, right_crc;
  logic [StreamBits-1:0] trailer_q;
  logic [15:0]           trailer_vector_q;
  lpu_link_crc #(.StreamBits(StreamBits)) u_crc (
    .clk_i, .advance_i(1'b1), .valid_i(takes && state_q != StTrailer), .first_i(state_q == StHeader),
    .beat_i(beat_q), .crc_o(crc)
  );
  assign right_crc = trailer_q == StreamBits'(crc);
  always_ff @(posedge clk_i) begin
    trailer_valid_q <= rst_ni && takes && state_q == StTrailer && !wrong_last;
    trailer_q <= beat_q;
    trailer_vector_q <= next_q - 16'd1;
    checked_o <= rst_ni && trailer_valid_q && right_crc && !halt_i;
    checked_vector_o <= trailer_vector_q;
  end

  // Where magic and parity are both wrong, another beat is in the header's place; where one of them is, bits flipped.
  always_comb begin
    error_o = 8'(lpu_pkg::LinkErrorNone);
    error_expected_o = next_q;
    error_got_o = next_q;
    if (trailer_valid_q && !right_crc && !halt_i) begin
      error_o = 8'(lpu_pkg::LinkErrorCorrupt);
      error_expected_o = trailer_vector_q;
      error_got_o = trailer_vector_q;
    end else if (wrong_last) begin
      error_o = 8'(lpu_pkg::LinkErrorFormat);
      error_expected_o = 16'(state_q == StTrailer);
      error_got_o = 16'(last_q);
    end else if (whole && wrong_magic && wrong_rest) begin
      error_o = 8'(lpu_pkg::LinkErrorFormat);
      error_expected_o = 16'(lpu_pkg::LinkMagic);
      error_got_o = magic;
    end else if (whole && (wrong_magic || wrong_rest)) begin
      error_o = 8'(lpu_pkg::LinkErrorCorrupt);
    end else if (whole && wrong_blocks) begin
      error_o = 8'(lpu_pkg::LinkErrorFormat);
      error_expected_o = 16'(lpu_pkg::MaxLinkBlocks);
      error_got_o = head;
    end else if (whole && wrong_number) begin
      error_o = 8'(lpu_pkg::LinkErrorSequence);
      error_got_o = number;
    end
  end
endmodule
