// A softmax instruction to its entries (docs/isa.md, "SMX: softmax"; docs/units/smx.md): row group by row group,
// segment by segment, SoftmaxLanes positions a cycle, and with each entry what its requests need before it and what its
// blocks need after it. An instruction is handed over IssueLeadCycles before its issue cycle t, while entries of others
// may still run; nothing but counters follows, and no entry waits.
// Relies on position and context length that stay for a token, and on fields that the host has checked.
module lpu_softmax_issue #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int SoftmaxLanes = 2,
  parameter int AccumulatorEntries = 16,
  localparam int Values = lpu_pkg::BlockValues,
  localparam int Blocks = (SoftmaxLanes > Values) ? SoftmaxLanes / Values : 1,  // that one entry can end
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1,
  localparam int LaneBits = $clog2(Lanes),
  localparam int EntryBits = $clog2(AccumulatorEntries),
  localparam int SliceBits = (Lanes > SoftmaxLanes) ? $clog2(Lanes / SoftmaxLanes) : 1
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                valid_i,          // t − 8
  input  logic [lpu_pkg::InstructionBits-1:0] instruction_i,
  input  logic [15:0]                         iteration_i,
  input  logic [15:0]                         position_i,       // of the token: from its start to its end
  input  logic [15:0]                         blocks_i,         // ⌈(position + 1)/32⌉
  // ---- e − 3, e being the cycle of an entry
  output logic                                grid_read_o,
  output logic [23:0]                         grid_address_o,
  // ---- e − 2
  output logic [ColumnGroups-1:0]             softmax_read_o,   // one-hot segment
  output logic [EntryBits-1:0]                softmax_entry_o,
  output logic [SliceBits-1:0]                softmax_slice_o,
  // ---- e
  output logic                                entry_valid_o,
  output logic [Blocks-1:0]                   entry_blocks_o,   // that there are
  output logic [GroupBits-1:0]                entry_segment_o,
  output logic [4:0]                          entry_slot_o,
  output logic                                entry_block_end_o,
  output logic                                entry_starts_o,
  output logic                                entry_row_end_o,
  output logic                                entry_end_o,
  output logic [SoftmaxLanes-1:0]             unmasked_o,
  output logic                                upper_half_o,     // the scores lie in lanes 32…63
  output logic [LaneBits-1:0]                 grid_lane_o,      // byte of the grid word
  output logic [5:0]                          round_o,
  output logic [GroupBits-1:0]                last_place_o,     // groups of a segment − 1
  output logic [Blocks*GroupBits-1:0]         place_o,          // of each block: bank in its segment,
  output logic [Blocks*GroupBits-1:0]         bank_o,           // bank,
  output logic [Blocks*16-1:0]                address_o,        // and address in it
  output logic                                inside_o          // an instruction begins inside another
);
  localparam int SliceValues = (SoftmaxLanes > Values) ? Values : SoftmaxLanes;
  localparam int SegmentSlices = Lanes / SliceValues;
  localparam int SegmentSliceBits = (SegmentSlices > 1) ? $clog2(SegmentSlices) : 1;
  localparam int BlockSlices = Values / SliceValues;
  localparam int GridBits = 24 + LaneBits;           // {word, byte}
  localparam int FieldBits = lpu_pkg::SoftmaxGridStrideLsb + lpu_pkg::SoftmaxGridStrideWidth;

  if (Lanes < 2 || Lanes > 64 || Lanes != 1 << LaneBits) $error("lpu_softmax_issue: Lanes must be 2, 4, 8 … 64");
  if (SoftmaxLanes < 1 || Lanes % SoftmaxLanes != 0) $error("lpu_softmax_issue: SoftmaxLanes must divide Lanes");
  if (ColumnGroups < 1 || ColumnGroups > 256 || AccumulatorEntries < 2)
    $error("lpu_softmax_issue: ColumnGroups must be 1 to 256, AccumulatorEntries at least 2");
  if (lpu_pkg::IssueLeadCycles != 8) $error("lpu_softmax_issue: its registers are for a lead of 8 cycles");

  // ---- t − 7 … t − 4: the instruction's constants
  // Groups of a segment − 1.
  function automatic logic [GroupBits-1:0] part_end(input logic [8:0] segments);
    part_end = '0;
    for (int count = 1; count <= ColumnGroups; count++)
      if (ColumnGroups % count == 0 && segments == 9'(count)) part_end = GroupBits'(ColumnGroups / count - 1);
  endfunction
  // Two blocks a cycle only where a segment has two banks.
  function automatic logic is_wide(input logic [GroupBits-1:0] last_place);
    is_wide = Blocks == 2 && last_place != '0;
  endfunction

  logic                 valid_1, valid_2, valid_3, take;
  logic [FieldBits-1:0] fields_1;
  logic [15:0]          iteration_1;
  logic [GroupBits-1:0] last_place_1, last_place_2, last_place_3, last_place_4;
  logic [8:0]           segments_1;
  logic [EntryBits-1:0] accumulator_2, accumulator_3, accumulator_4;
  logic [15:0]          destination_2, destination_3, destination_4;
  logic [5:0]           round_2, round_3, round_4;
  logic [GroupBits-1:0] last_segment_2, last_segment_3, last_segment_4;
  logic [23:0]          grid_2, moved_2, grid_3;
  logic [17:0]          head_2, head_3;                 // of segment 0
  logic [GridBits-1:0]  grid_4;
  logic [15:0]          pitch_2, busy_2, gap_3, gap_4;  // cycles without entry after a row group
  assign segments_1 = fields_1[lpu_pkg::SoftmaxSegmentsLsb+:9];
  always_ff @(posedge clk_i) begin
    valid_1 <= valid_i && rst_ni;
    fields_1 <= instruction_i[FieldBits-1:0];
    iteration_1 <= iteration_i;
    last_place_1 <= part_end(instruction_i[lpu_pkg::SoftmaxSegmentsLsb+:9]);

    valid_2 <= valid_1 && rst_ni;
    accumulator_2 <= EntryBits'(fields_1[lpu_pkg::SoftmaxAccumulatorLsb+:12]);
    destination_2 <= fields_1[lpu_pkg::SoftmaxDestinationLsb+:16];
    round_2 <= fields_1[lpu_pkg::SoftmaxRoundLsb+:6];
    last_segment_2 <= GroupBits'(segments_1 - 9'd1);
    grid_2 <= fields_1[lpu_pkg::SoftmaxGridAddressLsb+:24];
    moved_2 <= fields_1[lpu_pkg::SoftmaxGridStrideLsb+:24] * 24'(iteration_1);
    head_2 <= 18'(fields_1[lpu_pkg::SoftmaxSlotLsb+:9]) * 18'(segments_1);
    pitch_2 <= fields_1[lpu_pkg::SoftmaxPitchCyclesLsb+:16];
    busy_2 <= is_wide(last_place_1) ? 16'(segments_1) << $clog2(SegmentSlices / Blocks)
                                    : 16'(segments_1) << $clog2(SegmentSlices);
    last_place_2 <= last_place_1;

    valid_3 <= valid_2 && rst_ni;
    {accumulator_3, destination_3, round_3, last_segment_3} <= {accumulator_2, destination_2, round_2, last_segment_2};
    {head_3, last_place_3} <= {head_2, last_place_2};
    grid_3 <= grid_2 + moved_2;
    gap_3 <= pitch_2 - busy_2;

    take <= valid_3 && rst_ni;
    {accumulator_4, destination_4, round_4, last_segment_4} <= {accumulator_3, destination_3, round_3, last_segment_3};
    {gap_4, last_place_4} <= {gap_3, last_place_3};
    grid_4 <= {grid_3, {LaneBits{1'b0}}} + GridBits'(head_3);
  end

  // The row groups of the context − 1.
  logic [15:0] last_row_q;
  always_ff @(posedge clk_i)
    last_row_q <= (Lanes > Values) ? (blocks_i - 16'd1) >> $clog2((Lanes + Values - 1) / Values)
                                   : (blocks_i << $clog2((Lanes > Values) ? 1 : Values / Lanes)) - 16'd1;

  // ---- e − 3: the entry whose turn it is
  logic                        active_q;
  logic [15:0]                 wait_q;
  logic [15:0]                 row_q;
  logic [GroupBits-1:0]        segment_q;
  logic [SegmentSliceBits-1:0] slice_q;       // in the row group's part of a segment, of SliceValues
  logic [EntryBits-1:0]        entry_q;
  logic [GridBits-1:0]         grid_q, first_grid_q;
  logic [GroupBits-1:0]        base_q;        // first bank of the segment
  logic [GroupBits-1:0]        place_q, row_place_q;
  logic [15:0]                 address_q, row_address_q;
  logic [GroupBits-1:0]        last_segment_q, last_place_q;
  logic [15:0]                 gap_q;
  logic [5:0]                  round_q;

  logic        entry, wide, segment_end, group_end, row_end, ends, block_end;
  logic [15:0] number;                        // of the slice in the context
  logic [15:0] block;
  logic [4:0]  slot;                          // of the slice in its block
  assign entry = active_q && wait_q == 16'd0;
  assign wide = is_wide(last_place_q);
  assign segment_end = wide || slice_q == SegmentSliceBits'(SegmentSlices - 1);
  assign group_end = segment_end && segment_q == last_segment_q;
  assign row_end = segment_end && row_q == last_row_q;
  assign ends = group_end && row_q == last_row_q;
  assign number = (row_q << $clog2(SegmentSlices)) | 16'(slice_q);
  assign block = number >> $clog2(BlockSlices);
  assign slot = number[4:0] & 5'(BlockSlices - 1);
  assign block_end = slot == 5'(BlockSlices - 1);
  assign grid_read_o = entry;
  assign grid_address_o = grid_q[GridBits-1:LaneBits];
  assign inside_o = take && active_q && !(entry && ends);

  // {into the next address, place} of the block after one.
  function automatic logic [GroupBits:0] following(input logic [GroupBits-1:0] place, input logic [GroupBits-1:0] last);
    following[GroupBits] = place == last;
    following[GroupBits-1:0] = (place == last) ? '0 : place + GroupBits'(1);
  endfunction
  logic                 wraps_second, wraps_third;
  logic [GroupBits-1:0] second_place, third_place, next_place;
  logic [15:0]          second_address, next_address;
  assign {wraps_second, second_place} = following(place_q, last_place_q);
  assign {wraps_third, third_place} = following(second_place, last_place_q);
  assign second_address = address_q + 16'(wraps_second);
  assign next_place = !block_end ? place_q : wide ? third_place : second_place;
  assign next_address = !block_end ? address_q : wide ? second_address + 16'(wraps_third) : second_address;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (take) active_q <= 1'b1;
    else if (entry && ends) active_q <= 1'b0;
    if (take) begin
      wait_q <= 16'd0;
      row_q <= 16'd0;
      segment_q <= '0;
      slice_q <= '0;
      entry_q <= accumulator_4;
      grid_q <= grid_4;
      first_grid_q <= grid_4;
      base_q <= '0;
      place_q <= '0;
      row_place_q <= '0;
      address_q <= destination_4;
      row_address_q <= destination_4;
      last_segment_q <= last_segment_4;
      last_place_q <= last_place_4;
      gap_q <= gap_4;
      round_q <= round_4;
    end else if (!entry) begin
      wait_q <= wait_q - 16'd1;
    end else begin
      slice_q <= segment_end ? '0 : slice_q + SegmentSliceBits'(1);
      {place_q, address_q} <= {next_place, next_address};
      if (group_end) begin
        wait_q <= gap_q;
        row_q <= row_q + 16'd1;
        entry_q <= (entry_q == EntryBits'(AccumulatorEntries - 1)) ? '0 : entry_q + EntryBits'(1);
        segment_q <= '0;
        base_q <= '0;
        grid_q <= first_grid_q;
        {row_place_q, row_address_q} <= {next_place, next_address};
      end else if (segment_end) begin
        segment_q <= segment_q + GroupBits'(1);
        base_q <= base_q + last_place_q + GroupBits'(1);
        grid_q <= grid_q + GridBits'(1);
        {place_q, address_q} <= {row_place_q, row_address_q};
      end
    end
  end

  // ---- e − 2: accumulators; masks
  logic [Blocks-1:0] all_unmasked, all_unmasked_2, some_unmasked, some_unmasked_2;
  logic [Blocks-1:0] blocks;
  logic [15:0]       rest;                   // of the position, in its slice
  logic [SoftmaxLanes-1:0] unmasked_1;
  assign rest = position_i & 16'(SliceValues - 1);
  always_comb begin
    for (int b = 0; b < Blocks; b++) begin
      all_unmasked[b] = (number | 16'(b)) < position_i >> $clog2(SliceValues);
      some_unmasked[b] = (number | 16'(b)) == position_i >> $clog2(SliceValues);
      blocks[b] = (block | 16'(b)) < blocks_i && (b == 0 || wide);
    end
  end
  always_ff @(posedge clk_i) begin
    for (int s = 0; s < ColumnGroups; s++) softmax_read_o[s] <= rst_ni && entry && segment_q == GroupBits'(s);
    softmax_entry_o <= entry_q;
    softmax_slice_o <= (Blocks == 2) ? '0 : SliceBits'(slice_q);
    all_unmasked_2 <= all_unmasked;
    some_unmasked_2 <= some_unmasked;
    unmasked_o <= unmasked_1;
    for (int l = 0; l < SoftmaxLanes; l++)
      unmasked_1[l] <= all_unmasked_2[l/SliceValues] ||
                       (some_unmasked_2[l/SliceValues] && 16'(l % SliceValues) <= rest);
  end

  // ---- e
  logic [Blocks*GroupBits-1:0] places, banks;
  logic [Blocks*16-1:0]        addresses;
  always_comb begin
    for (int b = 0; b < Blocks; b++) begin
      places[b*GroupBits+:GroupBits] = b == 0 ? place_q : second_place;
      banks[b*GroupBits+:GroupBits] = base_q + (b == 0 ? place_q : second_place);
      addresses[b*16+:16] = b == 0 ? address_q : second_address;
    end
  end
  lpu_delay #(.Cycles(3), .HasReset(1'b1)) u_valid (.clk_i, .rst_ni, .value_i(entry), .value_o(entry_valid_o));
  lpu_delay #(.Width(16 + Blocks + 2 * GroupBits + LaneBits + Blocks * (2 * GroupBits + 16)), .Cycles(3)) u_entry (
    .clk_i, .rst_ni(1'b1),
    .value_i({blocks, segment_q, slot, block_end, block == 16'd0, row_end, ends,
              !wide && slice_q[0], grid_q[LaneBits-1:0], round_q, last_place_q, places, banks, addresses}),
    .value_o({entry_blocks_o, entry_segment_o, entry_slot_o, entry_block_end_o, entry_starts_o, entry_row_end_o,
              entry_end_o, upper_half_o, grid_lane_o, round_o, last_place_o, place_o, bank_o, address_o})
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni) begin
      if (valid_i) begin
        assert (instruction_i[lpu_pkg::CommonOpcodeLsb+:4] == 4'(lpu_pkg::OpcodeSoftmax))
        else $error("%m: opcode %0d isn't the SMX's", instruction_i[3:0]);
        assert (blocks_i == (position_i >> 5) + 16'd1) else $error("%m: %0d blocks aren't the context's", blocks_i);
        assert (13'(instruction_i[lpu_pkg::SoftmaxAccumulatorLsb+:12]) < 13'(AccumulatorEntries))
        else $error("%m: no accumulator %0d", instruction_i[lpu_pkg::SoftmaxAccumulatorLsb+:12]);
      end
      assert (!valid_2 || pitch_2 >= busy_2) else $error("%m: row groups of %0d cycles, %0d apart", busy_2, pitch_2);
    end
`endif
endmodule
