// Writes the codes of K and V where the lanes will read them, by the lane memories' second ports (docs/isa.md, kKey and
// kValue; docs/numbers.md §8): K's planes into one lane's words, V's codes as a column of nibbles across a row group's
// lanes, V's scale beside K. The vector unit's results come with their addresses; what is to happen when is fixed.
// In cycles before the words of a key or of a value's first row group can be read ("ready"):
//
//   K   4 codes      3 … 1 words n = 0 … nibbles − 1 in the last `nibbles` cycles
//   V   8 early tag  7 scale: read  6 codes of block 0, scale  5 scale: written  4 on: read 0, read 1, write 0, write 1
//
// Relies on lpu_kv_port (one a group), on the position being stable for as long as a token writes, and on the schedule
// for a free port (it is told if there is none).
module lpu_kv_writer #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int LaneWords = 256,
  parameter int MaxHeadBlocks = 8,
  localparam int WordBits = lpu_pkg::WordDataBits + lpu_pkg::WordSideBits,
  localparam int Values = lpu_pkg::BlockValues,
  localparam int KeyCodeBits = lpu_pkg::KvMantissaBitsWide,
  localparam int ValueCodeBits = lpu_pkg::KvMantissaBits,
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1,
  localparam int LaneBits = $clog2(Lanes),
  localparam int BlockBits = (MaxHeadBlocks > 1) ? $clog2(MaxHeadBlocks) : 1
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic [LaneBits-1:0]                    position_lane_i,     // position mod Lanes
  input  logic [4:0]                             position_column_i,   // position mod 32
  // K: a block of codes with its tag, 4 cycles before its words can be read
  input  logic                                   key_valid_i,
  input  logic [Values*KeyCodeBits-1:0]          key_codes_i,         // [32], two's complement
  input  logic [15:0]                            key_scale_i,
  input  logic [GroupBits-1:0]                   key_group_i,
  input  logic [23:0]                            key_address_i,       // of word 0
  input  logic [1:0]                             key_nibbles_i,
  // V: a head's tag, 8 cycles before its first words can be read
  input  logic                                   value_early_i,
  input  logic [GroupBits-1:0]                   value_group_i,
  input  logic [23:0]                            value_address_i,     // of word 0 of row group 0
  input  logic [19:0]                            value_row_step_i,    // words from one row group to the next
  input  logic [3:0]                             value_head_blocks_i, // 1 to MaxHeadBlocks
  input  logic [GroupBits-1:0]                   value_key_group_i,
  input  logic [23:0]                            value_key_address_i, // of K's word 1
  // V's codes: block 0 with the head's scale two cycles after the tag, then a block a cycle
  input  logic                                   value_valid_i,
  input  logic [BlockBits-1:0]                   value_block_i,
  input  logic [Values*ValueCodeBits-1:0]        value_codes_i,       // [32]
  input  logic [15:0]                            value_scale_i,
  // the lane memories' second ports
  output logic [ColumnGroups-1:0]                second_read_o,
  output logic [ColumnGroups*Lanes-1:0]          second_write_o,      // [group][lane]
  output logic [ColumnGroups*24-1:0]             second_address_o,
  output logic [ColumnGroups*Lanes*WordBits-1:0] second_words_o,      // [group][lane]
  input  logic [ColumnGroups*Lanes*WordBits-1:0] second_words_i,      // two cycles after a read
  output logic [7:0]                             error_o              // lpu_pkg::Error…, a cycle after what it means
);
  if (Lanes > 64 || (Lanes > Values ? Lanes % Values != 0 : Values % Lanes != 0)) begin : gen_check_lanes
    $error("lpu_kv_writer: Lanes must divide 32 or be 64");
  end
  if (MaxHeadBlocks < 1 || MaxHeadBlocks > 15) begin : gen_check_blocks
    $error("lpu_kv_writer: MaxHeadBlocks must be 1 to 15");
  end

  // ---- tags that name no group, word or block do nothing, and are told
  logic bad_key, bad_value;
  assign bad_key = key_valid_i && (32'(key_group_i) >= ColumnGroups || key_nibbles_i == '0);
  assign bad_value = value_early_i &&
      (32'(value_group_i) >= ColumnGroups || 32'(value_key_group_i) >= ColumnGroups || value_head_blocks_i == '0 ||
       32'(value_head_blocks_i) > MaxHeadBlocks);

  // ---- K: three stages, 3, 2 and 1 cycles before ready. A key of n words writes in the last n: its first plane, and
  // then the planes move down.
  localparam int KeyStages = 3;
  localparam int PlaneBits = lpu_pkg::WordDataBits;
  localparam int KeyBits = KeyStages * PlaneBits;
  logic [KeyBits-1:0] planes;
  always_comb begin
    for (int plane = 0; plane < KeyStages; plane++)
      for (int j = 0; j < Values; j++)
        planes[plane*PlaneBits+j*4+:4] = key_codes_i[j*KeyCodeBits+plane*4+:4];
  end

  logic [KeyStages-1:0]           key_valid_q, key_write;
  logic [KeyStages*KeyBits-1:0]   key_planes_q;
  logic [KeyStages*16-1:0]        key_scale_q;
  logic [KeyStages*24-1:0]        key_address_q;
  logic [KeyStages*2-1:0]         key_nibbles_q;
  logic [KeyStages*GroupBits-1:0] key_group_q;
  logic [KeyStages*WordBits-1:0]  key_word;
  always_comb begin
    for (int stage = 0; stage < KeyStages; stage++) begin
      key_write[stage] = key_valid_q[stage] && 32'(key_nibbles_q[stage*2+:2]) + stage >= KeyStages;
      key_word[stage*WordBits+:WordBits] = {key_scale_q[stage*16+:16], key_planes_q[stage*KeyBits+:PlaneBits]};
    end
  end
  always_ff @(posedge clk_i) begin
    key_valid_q <= {key_valid_q[KeyStages-2:0], key_valid_i && !bad_key} & {KeyStages{rst_ni}};
    key_planes_q[0+:KeyBits] <= planes;
    key_scale_q[0+:16] <= key_scale_i;
    key_address_q[0+:24] <= key_address_i;
    key_nibbles_q[0+:2] <= key_nibbles_i;
    key_group_q[0+:GroupBits] <= key_group_i;
    for (int stage = 1; stage < KeyStages; stage++) begin
      key_planes_q[stage*KeyBits+:KeyBits] <= key_write[stage-1] ?
          key_planes_q[(stage-1)*KeyBits+:KeyBits] >> PlaneBits : key_planes_q[(stage-1)*KeyBits+:KeyBits];
      key_scale_q[stage*16+:16] <= key_write[stage-1] ? '0 : key_scale_q[(stage-1)*16+:16];
      key_address_q[stage*24+:24] <= key_address_q[(stage-1)*24+:24] + 24'(key_write[stage-1]);
      key_nibbles_q[stage*2+:2] <= key_nibbles_q[(stage-1)*2+:2];
      key_group_q[stage*GroupBits+:GroupBits] <= key_group_q[(stage-1)*GroupBits+:GroupBits];
    end
  end

  // ---- V: the tag 7, 6 and 5 cycles before ready
  localparam int TagStages = 3;
  logic [TagStages-1:0]           tag_valid_q;
  logic [TagStages*GroupBits-1:0] tag_group_q, tag_key_group_q;
  logic [TagStages*24-1:0]        tag_address_q, tag_key_address_q;
  logic [TagStages*20-1:0]        tag_row_step_q;
  logic [TagStages*4-1:0]         tag_blocks_q;
  logic [15:0]                    scale_q;
  logic [GroupBits-1:0]           codes_group, codes_group_q;
  always_ff @(posedge clk_i) begin
    tag_valid_q <= {tag_valid_q[TagStages-2:0], value_early_i && !bad_value} & {TagStages{rst_ni}};
    tag_group_q <= (TagStages * GroupBits)'({tag_group_q, value_group_i});
    tag_key_group_q <= (TagStages * GroupBits)'({tag_key_group_q, value_key_group_i});
    tag_address_q <= (TagStages * 24)'({tag_address_q, value_address_i});
    tag_key_address_q <= (TagStages * 24)'({tag_key_address_q, value_key_address_i});
    tag_row_step_q <= (TagStages * 20)'({tag_row_step_q, value_row_step_i});
    tag_blocks_q <= (TagStages * 4)'({tag_blocks_q, value_head_blocks_i});
    scale_q <= value_scale_i;
    codes_group_q <= codes_group;
  end
  assign codes_group = tag_valid_q[1] ? tag_group_q[GroupBits+:GroupBits] : codes_group_q;

  // ---- a port for each group
  logic [Lanes-1:0]        position_lane;
  logic [ColumnGroups-1:0] out_of_range, collides;
  assign position_lane = Lanes'(1) << position_lane_i;
  for (genvar group = 0; group < ColumnGroups; group++) begin : gen_group
    logic [KeyStages-1:0] key_here;
    always_comb begin
      for (int stage = 0; stage < KeyStages; stage++)
        key_here[stage] = key_write[stage] && key_group_q[stage*GroupBits+:GroupBits] == GroupBits'(group);
    end
    lpu_kv_port #(.Lanes(Lanes), .LaneWords(LaneWords), .MaxHeadBlocks(MaxHeadBlocks)) u_port (
      .clk_i,
      .rst_ni,
      .position_lane_i(position_lane),
      .position_column_i,
      .key_write_i(key_here),
      .key_address_i(key_address_q),
      .key_word_i(key_word),
      .scale_read_i(tag_valid_q[0] && tag_key_group_q[0+:GroupBits] == GroupBits'(group)),
      .scale_read_address_i(tag_key_address_q[0+:24]),
      .scale_write_i(tag_valid_q[2] && tag_key_group_q[2*GroupBits+:GroupBits] == GroupBits'(group)),
      .scale_write_address_i(tag_key_address_q[2*24+:24]),
      .scale_i(scale_q),
      .start_i(tag_valid_q[2] && tag_group_q[2*GroupBits+:GroupBits] == GroupBits'(group)),
      .start_address_i(tag_address_q[2*24+:24]),
      .start_row_step_i(tag_row_step_q[2*20+:20]),
      .start_blocks_i(tag_blocks_q[2*4+:4]),
      .codes_write_i(value_valid_i && codes_group == GroupBits'(group)),
      .codes_block_i(value_block_i),
      .codes_i(value_codes_i),
      .second_read_o(second_read_o[group]),
      .second_write_o(second_write_o[group*Lanes+:Lanes]),
      .second_address_o(second_address_o[group*24+:24]),
      .second_words_o(second_words_o[group*Lanes*WordBits+:Lanes*WordBits]),
      .second_words_i(second_words_i[group*Lanes*WordBits+:Lanes*WordBits]),
      .out_of_range_o(out_of_range[group]),
      .collides_o(collides[group])
    );
  end

  // ---- errors
  always_ff @(posedge clk_i) begin
    error_o <= 8'(lpu_pkg::ErrorNone);
    if (|collides) error_o <= 8'(lpu_pkg::ErrorPort);
    if ((|out_of_range) || bad_key || bad_value) error_o <= 8'(lpu_pkg::ErrorAddress);
    if (!rst_ni) error_o <= 8'(lpu_pkg::ErrorNone);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    assert (!rst_ni || !tag_valid_q[1] || (value_valid_i && value_block_i == '0))
    else $error("%m: a value's first codes come two cycles after its tag");
`endif
endmodule
