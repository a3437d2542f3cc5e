// The softmax unit whole: kSoftmax instructions in, requests for scores and exponents, then blocks of weights, each
// round's E, E − N and 1/z out (docs/isa.md, "SMX: softmax"; docs/units/smx.md).
//
//   instruction → lpu_softmax_issue → requests … scores → lpu_softmax → blocks to their banks, round registers
//
// Every result comes a fixed number of cycles after the entry that it waits for; the tags that say where blocks go
// travel beside the arithmetic. Relies on lpu_softmax_issue, lpu_softmax, lpu_delay; on the accumulators' answer two
// cycles and the exponent memory's three after the request.
module lpu_smx #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int SoftmaxLanes = 2,
  parameter int AccumulatorEntries = 16,
  localparam int BlockBits = lpu_mvu_pkg::BlockBits,
  localparam int WholeBits = lpu_mvu_pkg::BlockExponentBits,
  localparam int DifferenceBits = 6,
  localparam int Blocks = (SoftmaxLanes > lpu_pkg::BlockValues) ? SoftmaxLanes / lpu_pkg::BlockValues : 1,
  localparam int EntryBits = $clog2(AccumulatorEntries),
  localparam int SliceBits = (Lanes > SoftmaxLanes) ? $clog2(Lanes / SoftmaxLanes) : 1
) (
  input  logic                                             clk_i,
  input  logic                                             rst_ni,
  // instructions, IssueLeadCycles before their issue
  input  logic                                             smx_valid_i,
  input  logic [lpu_pkg::InstructionBits-1:0]              smx_instruction_i,
  input  logic [15:0]                                      smx_iteration_i,
  // the token
  input  logic                                             token_start_i,
  input  logic [15:0]                                      position_i,
  input  logic [15:0]                                      blocks_i,         // ⌈(position + 1)/32⌉
  // K's grid exponents: asked 3 cycles before the entry, there with it
  output logic                                             grid_read_o,
  output logic [23:0]                                      grid_address_o,
  input  logic [Lanes*lpu_pkg::RowExponentBits-1:0]        grid_word_i,
  // accumulators: asked 2 cycles before the entry, there with it
  output logic [ColumnGroups-1:0]                          softmax_read_o,   // one-hot segment
  output logic [EntryBits-1:0]                             softmax_entry_o,
  output logic [SliceBits-1:0]                             softmax_slice_o,
  input  logic [SoftmaxLanes*lpu_pkg::AccumulatorBits-1:0] softmax_sums_i,
  input  logic [SoftmaxLanes*lpu_pkg::ScaleBits-1:0]       softmax_scales_i, // V's
  // activation blocks, by bank, shown in the cycle before they can be read
  output logic [ColumnGroups-1:0]                          block_write_o,
  output logic [ColumnGroups*16-1:0]                       block_address_o,
  output logic [ColumnGroups*BlockBits-1:0]                block_o,
  // round registers, by segment: E and E − N shown in the cycle before they can be read, 1/z in that cycle itself
  output logic                                             round_write_o,
  output logic [5:0]                                       round_o,
  output logic [ColumnGroups*WholeBits-1:0]                exponents_o,
  output logic [ColumnGroups*DifferenceBits-1:0]           differences_o,
  output logic                                             inverse_write_o,
  output logic [5:0]                                       inverse_round_o,
  output logic [ColumnGroups*32-1:0]                       inverses_o,
  output logic                                             saturated_o,      // a score did, since the token's start
  output logic                                             landed_o,         // something can be read a cycle later
  output logic [7:0]                                       error_o           // a lpu_pkg::Error… in the cycle after it
);
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1;
  localparam int Segments = lpu_mvu_pkg::most_segments(ColumnGroups);
  localparam int SegmentBits = (Segments > 1) ? $clog2(Segments) : 1;
  localparam int LaneBits = $clog2(Lanes);
  localparam int SumBits = lpu_pkg::AccumulatorBits;
  localparam int ScaleBits = lpu_pkg::ScaleBits;
  localparam int MantissasBits = lpu_mvu_pkg::BlockMantissasBits;
  localparam int BlockStage = lpu_pkg::SoftmaxBlockCycles - 1;  // a block on its port
  localparam int RowStage = lpu_pkg::SoftmaxRowCycles - 1;
  localparam logic [BlockBits-1:0] ZeroBlock = {1'b1, {(BlockBits - 1) {1'b0}}};  // exponent −65536

  if (RowStage != BlockStage + 1) $error("lpu_smx: zero blocks come one cycle after the row's last block");

  // ---- entries
  logic                        entry_valid, entry_block_end, entry_starts, entry_row_end, entry_end, upper_half;
  logic [Blocks-1:0]           entry_blocks;
  logic [GroupBits-1:0]        entry_segment, last_place;
  logic [4:0]                  entry_slot;
  logic [SoftmaxLanes-1:0]     unmasked;
  logic [LaneBits-1:0]         grid_lane;
  logic [5:0]                  entry_round;
  logic [Blocks*GroupBits-1:0] places, banks;
  logic [Blocks*16-1:0]        addresses;
  logic                        begins_inside;
  lpu_softmax_issue #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .SoftmaxLanes(SoftmaxLanes), .AccumulatorEntries(AccumulatorEntries)
  ) u_issue (
    .clk_i, .rst_ni, .valid_i(smx_valid_i), .instruction_i(smx_instruction_i), .iteration_i(smx_iteration_i),
    .position_i, .blocks_i, .grid_read_o, .grid_address_o, .softmax_read_o, .softmax_entry_o, .softmax_slice_o,
    .entry_valid_o(entry_valid), .entry_blocks_o(entry_blocks), .entry_segment_o(entry_segment),
    .entry_slot_o(entry_slot), .entry_block_end_o(entry_block_end), .entry_starts_o(entry_starts),
    .entry_row_end_o(entry_row_end), .entry_end_o(entry_end), .unmasked_o(unmasked), .upper_half_o(upper_half),
    .grid_lane_o(grid_lane), .round_o(entry_round), .last_place_o(last_place), .place_o(places), .bank_o(banks),
    .address_o(addresses), .inside_o(begins_inside)
  );

  // Where a segment has one bank, 64 lanes take their scores by halves.
  logic [SoftmaxLanes*SumBits-1:0]   sums;
  logic [SoftmaxLanes*ScaleBits-1:0] scales;
  if (Blocks == 2) begin : gen_halves
    localparam int Half = SoftmaxLanes / 2;
    always_comb begin
      sums = softmax_sums_i;
      scales = softmax_scales_i;
      if (upper_half) begin
        sums[0+:Half*SumBits] = softmax_sums_i[Half*SumBits+:Half*SumBits];
        scales[0+:Half*ScaleBits] = softmax_scales_i[Half*ScaleBits+:Half*ScaleBits];
      end
    end
  end else begin : gen_whole
    logic unused;
    assign unused = upper_half;
    assign sums = softmax_sums_i;
    assign scales = softmax_scales_i;
  end

  // ---- arithmetic
  logic [Blocks-1:0]               block_valid;
  logic [SegmentBits-1:0]          block_segment;
  logic [Blocks*MantissasBits-1:0] mantissas;
  logic [Blocks*WholeBits-1:0]     block_exponents;
  logic                            saturated;
  lpu_softmax #(.Lanes(Lanes), .Segments(Segments), .SoftmaxLanes(SoftmaxLanes)) u_softmax (
    .clk_i, .rst_ni, .entry_valid_i(entry_valid), .entry_blocks_i(entry_blocks),
    .entry_segment_i(entry_segment[SegmentBits-1:0]), .entry_slot_i(entry_slot), .entry_block_end_i(entry_block_end), .entry_starts_i(entry_starts),
    .entry_row_end_i(entry_row_end), .entry_end_i(entry_end), .entry_grid_i(grid_word_i[grid_lane*8+:8]),
    .unmasked_i(unmasked), .sum_i(sums), .value_scale_i(scales), .block_valid_o(block_valid),
    .block_segment_o(block_segment), .mantissas_o(mantissas), .block_exponent_o(block_exponents),
    .row_valid_o(round_write_o), .exponent_o(exponents_o[0+:Segments*WholeBits]),
    .difference_o(differences_o[0+:Segments*DifferenceBits]), .inverse_valid_o(inverse_write_o),
    .inverse_o(inverses_o[0+:Segments*32]), .saturated_o(saturated)
  );
  if (ColumnGroups > Segments) begin : gen_no_segments
    assign exponents_o[ColumnGroups*WholeBits-1:Segments*WholeBits] = '0;
    assign differences_o[ColumnGroups*DifferenceBits-1:Segments*DifferenceBits] = '0;
    assign inverses_o[ColumnGroups*32-1:Segments*32] = '0;
  end
  logic entry_s3;                            // a saturation that comes after a reset is no longer anyone's
  lpu_delay #(.Cycles(3), .HasReset(1'b1)) u_entry_s3 (.clk_i, .rst_ni, .value_i(entry_valid), .value_o(entry_s3));
  always_ff @(posedge clk_i)
    saturated_o <= rst_ni && ((saturated && entry_s3) || (saturated_o && !token_start_i));

  // ---- cycle 16: where blocks go
  logic [GroupBits-1:0]        last_place_s16;
  logic [Blocks*GroupBits-1:0] places_s16, banks_s16;
  logic [Blocks*16-1:0]        addresses_s16;
  logic [5:0]                  round_s16;
  logic                        end_s16;
  lpu_delay #(.Width(6 + GroupBits + Blocks * (2 * GroupBits + 16)), .Cycles(BlockStage)) u_tag (
    .clk_i, .rst_ni(1'b1), .value_i({entry_round, last_place, places, banks, addresses}),
    .value_o({round_s16, last_place_s16, places_s16, banks_s16, addresses_s16})
  );
  lpu_delay #(.Cycles(BlockStage), .HasReset(1'b1)) u_end (
    .clk_i, .rst_ni, .value_i(entry_valid && entry_end), .value_o(end_s16)
  );

  // ---- cycle 17: zero blocks behind the row's last one, in all segments
  logic [GroupBits-1:0]    shown_place, shown_place_q;
  logic [15:0]             shown_address, shown_address_q;
  logic [ColumnGroups-1:0] zero, zero_q;
  always_comb begin
    shown_place = shown_place_q;
    shown_address = shown_address_q;
    for (int b = 0; b < Blocks; b++) begin
      if (block_valid[b]) begin
        shown_place = places_s16[b*GroupBits+:GroupBits];
        shown_address = addresses_s16[b*16+:16];
      end
    end
    zero = '0;
    for (int part = 1; part <= ColumnGroups; part++)
      if (ColumnGroups % part == 0 && last_place_s16 == GroupBits'(part - 1))
        for (int g = 0; g < ColumnGroups; g++) zero[g] = end_s16 && GroupBits'(g % part) > shown_place;
  end
  always_ff @(posedge clk_i) begin
    shown_place_q <= shown_place;
    shown_address_q <= shown_address;
    zero_q <= rst_ni ? zero : '0;
  end

  logic [ColumnGroups-1:0] taken;            // by a block
  always_comb begin
    for (int g = 0; g < ColumnGroups; g++) begin
      taken[g] = 1'b0;
      block_address_o[g*16+:16] = zero_q[g] ? shown_address_q : addresses_s16[15:0];
      block_o[g*BlockBits+:BlockBits] = zero_q[g] ? ZeroBlock
                                                  : {block_exponents[0+:WholeBits], mantissas[0+:MantissasBits]};
      for (int b = 0; b < Blocks; b++) begin
        if (block_valid[b] && banks_s16[b*GroupBits+:GroupBits] == GroupBits'(g)) begin
          taken[g] = 1'b1;
          block_address_o[g*16+:16] = addresses_s16[b*16+:16];
          block_o[g*BlockBits+:BlockBits] = {block_exponents[b*WholeBits+:WholeBits],
                                             mantissas[b*MantissasBits+:MantissasBits]};
        end
      end
    end
    block_write_o = taken | zero_q;
  end

  // ---- rounds
  lpu_delay #(.Width(6), .Cycles(RowStage - BlockStage)) u_round (
    .clk_i, .rst_ni(1'b1), .value_i(round_s16), .value_o(round_o)
  );
  lpu_delay #(.Width(6), .Cycles(lpu_pkg::ReciprocalCycles - RowStage)) u_inverse_round (
    .clk_i, .rst_ni(1'b1), .value_i(round_o), .value_o(inverse_round_o)
  );
  logic inverse_next;                        // 1/z can be read in the next cycle
  lpu_delay #(.Cycles(lpu_pkg::ReciprocalCycles - 1 - BlockStage), .HasReset(1'b1)) u_inverse_next (
    .clk_i, .rst_ni, .value_i(end_s16), .value_o(inverse_next)
  );
  assign landed_o = block_write_o != '0 || round_write_o || inverse_next;

  always_ff @(posedge clk_i)
    if (!rst_ni) error_o <= 8'(lpu_pkg::ErrorNone);
    else if (begins_inside) error_o <= 8'(lpu_pkg::ErrorBusy);
    else if ((taken & zero_q) != '0) error_o <= 8'(lpu_pkg::ErrorPort);
    else error_o <= 8'(lpu_pkg::ErrorNone);

  logic unused_segment;                      // the banks say it; and the upper bits are zero
  assign unused_segment = (^block_segment) ^ (^entry_segment);
endmodule
