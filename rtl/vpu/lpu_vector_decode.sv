// A vector instruction to two records (lpu_vector_issue_pkg): the walk over its slices WalkDecodeCycles after the
// handover, the places of its results PlaceDecodeCycles after it. One instruction a cycle, always the same time: so
// records keep the distances of their instructions, and none waits.
// Loops' strides and first rows in the middle of a matrix become starting points here, by products; from there on
// counters go (docs/isa.md, "VPU: entries"). A linear mapping is a mapping by heads of ColumnGroups blocks in one segment.
// Relies on fields that the host has checked, and on position_i being the token's when kQuery, kKey or kValue come.
module lpu_vector_decode #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                valid_i,
  input  logic [lpu_pkg::InstructionBits-1:0] instruction_i,
  input  logic [15:0]                         iteration_i,     // of its loop
  input  logic [15:0]                         position_i,
  output logic                                walk_valid_o,
  output lpu_vector_issue_pkg::walk_t         walk_o,
  output logic                                place_valid_o,
  output lpu_vector_issue_pkg::place_t        place_o
);
  localparam int LaneBits = $clog2(Lanes);
  localparam int BlockBits = $clog2(lpu_pkg::BlockValues);
  localparam int MaxHeadBlocks = 8;
  localparam int Fields = lpu_pkg::VectorGridStrideLsb + lpu_pkg::VectorGridStrideWidth;

  // x/d for x below 2^16 and d of 1…256 is (x · ⌈2^24/d⌉) >> 24, exactly.
  localparam int ReciprocalBits = 24;
  function automatic logic [ReciprocalBits:0] reciprocal(input int divisor);
    reciprocal = (ReciprocalBits + 1)'((2 ** ReciprocalBits + divisor - 1) / divisor);
  endfunction
  function automatic logic [ReciprocalBits:0] head_reciprocal(input logic [3:0] head_blocks);
    head_reciprocal = '0;
    for (int count = 1; count <= MaxHeadBlocks; count++)
      if (head_blocks == 4'(count)) head_reciprocal = reciprocal(count);
  endfunction
  function automatic logic [ReciprocalBits:0] segment_reciprocal(input logic [8:0] segments);
    segment_reciprocal = '0;
    for (int count = 1; count <= ColumnGroups; count++)
      if (ColumnGroups % count == 0 && segments == 9'(count)) segment_reciprocal = reciprocal(count);
  endfunction
  function automatic logic [ReciprocalBits:0] part_reciprocal(input logic [8:0] segments);
    part_reciprocal = '0;
    for (int count = 1; count <= ColumnGroups; count++)
      if (ColumnGroups % count == 0 && segments == 9'(count)) part_reciprocal = reciprocal(ColumnGroups / count);
  endfunction
  function automatic logic [8:0] part_of(input logic [8:0] segments);
    part_of = '0;
    for (int count = 1; count <= ColumnGroups; count++)
      if (ColumnGroups % count == 0 && segments == 9'(count)) part_of = 9'(ColumnGroups / count);
  endfunction
  function automatic logic [15:0] divided(input logic [15:0] value, input logic [ReciprocalBits:0] by);
    logic [40:0] product;
    product = 41'(value) * 41'(by);
    divided = product[ReciprocalBits+:16];
  endfunction

  // ---- cycle 1: the instruction, and what its kind chooses
  logic [3:0] kind;
  logic       by_heads;
  logic       gains;
  logic [8:0] field_segments;
  logic [3:0] field_head_blocks;
  logic [lpu_pkg::VectorFirstRowWidth-1:0] field_first_row;
  assign kind = instruction_i[lpu_pkg::CommonOpcodeLsb+:lpu_pkg::CommonOpcodeWidth];
  assign by_heads = kind == 4'(lpu_pkg::OpcodeQuery) || kind == 4'(lpu_pkg::OpcodeKey) ||
                    kind == 4'(lpu_pkg::OpcodeValue);
  assign gains = kind == 4'(lpu_pkg::OpcodeResidual) || kind == 4'(lpu_pkg::OpcodeEmbed);
  assign field_segments = instruction_i[lpu_pkg::VectorSegmentsLsb+:lpu_pkg::VectorSegmentsWidth];
  assign field_head_blocks = instruction_i[lpu_pkg::VectorHeadBlocksLsb+:lpu_pkg::VectorHeadBlocksWidth];
  assign field_first_row = instruction_i[lpu_pkg::VectorFirstRowLsb+:lpu_pkg::VectorFirstRowWidth];

  logic              valid_1;
  logic [Fields-1:0] fields_1;
  logic [15:0]       iteration_1;
  logic              is_key_1, is_value_1, is_mix_1, is_embed_1;
  logic              has_bias_1;
  logic [15:0]       block_1;                  // first row's block
  logic [8:0]        head_blocks_1;
  logic [8:0]        segments_1, part_1;
  logic [ReciprocalBits:0] by_head_1, by_segments_1, by_part_1;
  logic [15:0]       position_1;
  logic [26:0]       constant_1;
  logic [23:0]       constant_stride_1;
  always_ff @(posedge clk_i) begin
    valid_1 <= valid_i && rst_ni;
    fields_1 <= instruction_i[Fields-1:0];
    iteration_1 <= iteration_i;
    is_key_1 <= kind == 4'(lpu_pkg::OpcodeKey);
    is_value_1 <= kind == 4'(lpu_pkg::OpcodeValue);
    is_mix_1 <= kind == 4'(lpu_pkg::OpcodeMix);
    is_embed_1 <= kind == 4'(lpu_pkg::OpcodeEmbed);
    has_bias_1 <= by_heads && instruction_i[lpu_pkg::VectorHasBiasLsb];
    block_1 <= (kind == 4'(lpu_pkg::OpcodeSwiglu)) ? 16'(field_first_row >> (BlockBits + 1))
                                                   : 16'(field_first_row >> BlockBits);
    head_blocks_1 <= by_heads ? 9'(field_head_blocks) : 9'(ColumnGroups);
    segments_1 <= by_heads ? field_segments : 9'd1;
    part_1 <= by_heads ? part_of(field_segments) : 9'(ColumnGroups);
    by_head_1 <= by_heads ? head_reciprocal(field_head_blocks) : reciprocal(ColumnGroups);
    by_segments_1 <= by_heads ? segment_reciprocal(field_segments) : reciprocal(1);
    by_part_1 <= by_heads ? part_reciprocal(field_segments) : reciprocal(ColumnGroups);
    position_1 <= position_i;
    constant_1 <= gains ? instruction_i[lpu_pkg::VectorGainAddressLsb+:lpu_pkg::VectorGainAddressWidth]
                        : instruction_i[lpu_pkg::VectorBiasAddressLsb+:lpu_pkg::VectorBiasAddressWidth];
    constant_stride_1 <= gains ? instruction_i[lpu_pkg::VectorGainStrideLsb+:lpu_pkg::VectorGainStrideWidth]
                               : instruction_i[lpu_pkg::VectorBiasStrideLsb+:lpu_pkg::VectorBiasStrideWidth];
  end

  // ---- cycle 2: products
  logic              valid_2;
  logic [Fields-1:0] fields_2;
  logic              is_key_2, is_value_2, is_mix_2, is_embed_2, has_bias_2;
  logic [7:0]        block_2;                  // low bits, for the remainder
  logic [8:0]        head_blocks_2, segments_2, part_2;
  logic [ReciprocalBits:0] by_segments_2, by_part_2;
  logic [15:0]       head_2;                   // of the first row, counted over segments
  logic [17:0]       mix_head_2;
  logic [23:0]       exponents_2, grids_2, words_2;  // iteration × stride
  logic [26:0]       constants_2, constant_2;
  logic [23:0]       position_words_2;         // to the position's row group of K
  logic [7:0]        position_block_2;         // the position's block, low bits
  logic [15:0]       position_row_2;           // … and its row among a segment's blocks
  logic [15:0]       head_rows_2;              // rows of blocks of a head
  logic [19:0]       rope_2;
  logic [15:0]       position_row_group, position_block;
  logic [19:0]       row_group_words;
  assign position_row_group = position_1 >> LaneBits;
  assign position_block = position_1 >> BlockBits;
  assign row_group_words =
      is_value_1 ? fields_1[lpu_pkg::VectorKeyRowGroupWordsLsb+:lpu_pkg::VectorKeyRowGroupWordsWidth]
                 : fields_1[lpu_pkg::VectorRowGroupWordsLsb+:lpu_pkg::VectorRowGroupWordsWidth];
  always_ff @(posedge clk_i) begin
    valid_2 <= valid_1 && rst_ni;
    fields_2 <= fields_1;
    {is_key_2, is_value_2, is_mix_2, is_embed_2, has_bias_2} <=
        {is_key_1, is_value_1, is_mix_1, is_embed_1, has_bias_1};
    block_2 <= block_1[7:0];
    {head_blocks_2, segments_2, part_2} <= {head_blocks_1, segments_1, part_1};
    {by_segments_2, by_part_2} <= {by_segments_1, by_part_1};
    head_2 <= divided(block_1, by_head_1);
    mix_head_2 <= 18'(fields_1[lpu_pkg::VectorSlotLsb+:lpu_pkg::VectorSlotWidth]) *
                  18'(fields_1[lpu_pkg::VectorSegmentsLsb+:lpu_pkg::VectorSegmentsWidth]);
    exponents_2 <= fields_1[lpu_pkg::VectorExponentStrideLsb+:lpu_pkg::VectorExponentStrideWidth] * 24'(iteration_1);
    grids_2 <= fields_1[lpu_pkg::VectorGridStrideLsb+:lpu_pkg::VectorGridStrideWidth] * 24'(iteration_1);
    words_2 <= fields_1[lpu_pkg::VectorMemoryStrideLsb+:lpu_pkg::VectorMemoryStrideWidth] * 24'(iteration_1);
    constants_2 <= 27'(constant_stride_1) * 27'(iteration_1);
    constant_2 <= constant_1;
    position_words_2 <= 24'(position_row_group) * 24'(row_group_words);
    position_block_2 <= position_block[7:0];
    position_row_2 <= divided(position_block, by_part_1);
    head_rows_2 <= divided(16'(head_blocks_1) + 16'(part_1) - 16'd1, by_part_1);
    rope_2 <= 20'(position_1) * 20'(fields_1[lpu_pkg::VectorHeadBlocksLsb+:lpu_pkg::VectorHeadBlocksWidth]);
  end

  // ---- cycle 3: sums, second division
  logic              valid_3;
  logic [Fields-1:0] fields_3;
  logic              is_key_3, is_value_3, is_mix_3, is_embed_3, has_bias_3;
  logic [8:0]        head_blocks_3, segments_3, part_3;
  logic [ReciprocalBits:0] by_part_3;
  logic [7:0]        head_3;                   // low bits, for the remainder
  logic [15:0]       slot_3;                   // among the heads of a segment
  logic [7:0]        head_block_3, position_place_3;
  logic [23:0]       exponent_3, grid_3, word_3, key_word_3, position_words_3, position_row_words_3;
  logic [5:0]        grid_lane_3;
  logic [26:0]       constant_3;
  logic [23:0]       outer_step_3;
  logic [19:0]       rope_3;
  logic [17:0]       grid_head, grid_word;
  assign grid_head = is_mix_2 ? mix_head_2 : 18'(head_2);
  assign grid_word = grid_head >> LaneBits;
  always_ff @(posedge clk_i) begin
    valid_3 <= valid_2 && rst_ni;
    fields_3 <= fields_2;
    {is_key_3, is_value_3, is_mix_3, is_embed_3, has_bias_3} <=
        {is_key_2, is_value_2, is_mix_2, is_embed_2, has_bias_2};
    {head_blocks_3, segments_3, part_3} <= {head_blocks_2, segments_2, part_2};
    by_part_3 <= by_part_2;
    head_3 <= head_2[7:0];
    slot_3 <= divided(head_2, by_segments_2);
    head_block_3 <= block_2 - 8'(head_2[7:0] * head_blocks_2[7:0]);
    position_place_3 <= position_block_2 - 8'(position_row_2[7:0] * part_2[7:0]);
    exponent_3 <= fields_2[lpu_pkg::VectorExponentAddressLsb+:lpu_pkg::VectorExponentAddressWidth] + exponents_2;
    grid_3 <= fields_2[lpu_pkg::VectorGridAddressLsb+:lpu_pkg::VectorGridAddressWidth] + grids_2 +
              24'(grid_word);
    grid_lane_3 <= 6'(grid_head & 18'(Lanes - 1));
    word_3 <= fields_2[lpu_pkg::VectorMemoryAddressLsb+:lpu_pkg::VectorMemoryAddressWidth] + words_2;
    key_word_3 <= fields_2[lpu_pkg::VectorKeyAddressLsb+:lpu_pkg::VectorKeyAddressWidth] + words_2;
    position_words_3 <= position_words_2;
    position_row_words_3 <= {7'd0, position_row_2, 1'b0};  // two words a block of V
    constant_3 <= constant_2 + constants_2;
    outer_step_3 <= (is_key_2 || is_value_2) ? fields_2[lpu_pkg::VectorSlotWordsLsb+:lpu_pkg::VectorSlotWordsWidth]
                                             : 24'(head_rows_2);
    rope_3 <= rope_2;
  end

  // ---- cycle 4: the walk's record
  logic [8:0] mix_segments;
  assign mix_segments = fields_3[lpu_pkg::VectorSegmentsLsb+:lpu_pkg::VectorSegmentsWidth];
  always_ff @(posedge clk_i) begin
    walk_valid_o <= valid_3 && rst_ni;
    walk_o.kind <= fields_3[lpu_pkg::CommonOpcodeLsb+:lpu_pkg::CommonOpcodeWidth];
    walk_o.accumulator <= fields_3[lpu_pkg::VectorAccumulatorLsb+:lpu_pkg::VectorAccumulatorWidth];
    walk_o.last_row_group <= (is_embed_3 ? fields_3[lpu_pkg::VectorColumnSetsLsb+:lpu_pkg::VectorColumnSetsWidth]
                                         : fields_3[lpu_pkg::VectorRowGroupsLsb+:lpu_pkg::VectorRowGroupsWidth]) -
                             16'd1;
    walk_o.last_segment <= is_mix_3 ? mix_segments - 9'd1 : 9'd0;
    walk_o.pitch <= fields_3[lpu_pkg::VectorPitchCyclesLsb+:lpu_pkg::VectorPitchCyclesWidth];
    walk_o.slice_cycles <= is_embed_3 ? 8'd1 : fields_3[lpu_pkg::VectorSliceCyclesLsb+:lpu_pkg::VectorSliceCyclesWidth];
    walk_o.rows <= fields_3[lpu_pkg::VectorRowsLsb+:lpu_pkg::VectorRowsWidth];
    walk_o.first_row <= fields_3[lpu_pkg::VectorFirstRowLsb+:lpu_pkg::VectorFirstRowWidth];
    walk_o.exponent_address <= exponent_3;
    walk_o.grid_address <= grid_3;
    walk_o.grid_lane <= grid_lane_3;
    walk_o.head_block <= head_block_3;
    walk_o.last_head_block <= 8'(head_blocks_3 - 9'd1);
    walk_o.starts_norm <= fields_3[lpu_pkg::VectorStartsNormLsb];
    walk_o.ends_norm <= fields_3[lpu_pkg::VectorEndsNormLsb];
    walk_o.has_bias <= has_bias_3;
    walk_o.wide <= is_key_3 && fields_3[lpu_pkg::VectorNibblesLsb+:lpu_pkg::VectorNibblesWidth] == 2'd3;
    walk_o.scale_register <= fields_3[lpu_pkg::VectorScaleRegisterLsb];
    walk_o.round <= fields_3[lpu_pkg::VectorRoundLsb+:lpu_pkg::VectorRoundWidth];
  end

  // ---- cycle 4, for the places: the segment, the block's row in its head, where the first slot lies
  logic              valid_4;
  logic [Fields-1:0] fields_4;
  logic              is_key_4, is_value_4;
  logic [8:0]        segments_4, part_4;
  logic [15:0]       slot_4;
  logic [7:0]        head_block_4, position_place_4, segment_4;
  logic [15:0]       head_row_4;
  logic [23:0]       base_4, key_base_4, outer_step_4;
  logic [26:0]       constant_4;
  logic [19:0]       rope_4;
  always_ff @(posedge clk_i) begin
    valid_4 <= valid_3 && rst_ni;
    fields_4 <= fields_3;
    {is_key_4, is_value_4} <= {is_key_3, is_value_3};
    {segments_4, part_4} <= {segments_3, part_3};
    slot_4 <= slot_3;
    {head_block_4, position_place_4} <= {head_block_3, position_place_3};
    segment_4 <= head_3 - 8'(slot_3[7:0] * segments_3[7:0]);
    head_row_4 <= divided(16'(head_block_3), by_part_3);
    base_4 <= is_value_3 ? word_3 + position_row_words_3 : is_key_3 ? word_3 + position_words_3
              : 24'(fields_3[lpu_pkg::VectorDestinationLsb+:lpu_pkg::VectorDestinationWidth]);
    key_base_4 <= key_word_3 + position_words_3 + 24'd1;  // V's scale lies in K's word 1
    outer_step_4 <= outer_step_3;
    constant_4 <= constant_3;
    rope_4 <= rope_3;
  end

  // ---- cycle 5: products of the places
  logic              valid_5;
  logic [Fields-1:0] fields_5;
  logic              is_value_5;
  logic [8:0]        segments_5, part_5, first_bank_5;
  logic [7:0]        place_5, segment_5;
  logic [23:0]       base_5, key_base_5, outer_step_5, slots_5, key_slots_5, inner_5, inner_step_5;
  logic [26:0]       constant_5;
  logic [19:0]       rope_5;
  logic [1:0]        inner_step;
  assign inner_step = is_key_4 ? fields_4[lpu_pkg::VectorNibblesLsb+:lpu_pkg::VectorNibblesWidth] : 2'd1;
  always_ff @(posedge clk_i) begin
    valid_5 <= valid_4 && rst_ni;
    fields_5 <= fields_4;
    is_value_5 <= is_value_4;
    {segments_5, part_5} <= {segments_4, part_4};
    first_bank_5 <= 9'(9'(segment_4) * part_4);
    place_5 <= is_value_4 ? position_place_4 : head_block_4 - 8'(head_row_4[7:0] * part_4[7:0]);
    segment_5 <= segment_4;
    {base_5, key_base_5, outer_step_5} <= {base_4, key_base_4, outer_step_4};
    slots_5 <= 24'(slot_4) * outer_step_4;
    key_slots_5 <= 24'(slot_4) * fields_4[lpu_pkg::VectorKeySlotWordsLsb+:lpu_pkg::VectorKeySlotWordsWidth];
    inner_5 <= is_value_4 ? 24'd0 : 24'(head_row_4) * 24'(inner_step);
    inner_step_5 <= 24'(inner_step);
    constant_5 <= constant_4;
    rope_5 <= rope_4;
  end

  // ---- cycle 6: the places' record
  always_ff @(posedge clk_i) begin
    place_valid_o <= valid_5 && rst_ni;
    place_o.stays <= is_value_5;
    place_o.part <= part_5;
    place_o.place <= place_5;
    place_o.first_bank <= first_bank_5;
    place_o.segment <= 9'(segment_5);
    place_o.last_segment <= segments_5 - 9'd1;
    place_o.inner <= inner_5;
    place_o.inner_step <= inner_step_5;
    place_o.outer <= base_5 + slots_5;
    place_o.outer_step <= outer_step_5;
    place_o.key_address <= key_base_5 + key_slots_5;
    place_o.key_step <= fields_5[lpu_pkg::VectorKeySlotWordsLsb+:lpu_pkg::VectorKeySlotWordsWidth];
    place_o.nibbles <= fields_5[lpu_pkg::VectorNibblesLsb+:lpu_pkg::VectorNibblesWidth];
    place_o.row_step <= fields_5[lpu_pkg::VectorRowGroupWordsLsb+:lpu_pkg::VectorRowGroupWordsWidth];
    place_o.head_blocks <= fields_5[lpu_pkg::VectorHeadBlocksLsb+:lpu_pkg::VectorHeadBlocksWidth];
    place_o.constant_address <= constant_5;
    place_o.rope_pair <= {rope_5, 4'd0};                    // a block of 32 rows has 16 pairs
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (valid_i && rst_ni) begin
      assert (kind >= 4'(lpu_pkg::OpcodeEmbed) && kind <= 4'(lpu_pkg::OpcodeLogits))
      else $error("%m: opcode %0d isn't the VPU's", kind);
      assert (!by_heads || (field_head_blocks != 4'd0 && field_head_blocks <= 4'(MaxHeadBlocks)))
      else $error("%m: heads of %0d blocks", field_head_blocks);
      assert ((!by_heads && kind != 4'(lpu_pkg::OpcodeMix)) || part_of(field_segments) != 9'd0)
      else $error("%m: %0d segments don't divide the column groups", field_segments);
    end
`endif
endmodule
