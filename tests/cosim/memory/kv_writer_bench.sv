// lpu_kv_writer before the lane memories that it writes, as in the core: what cosimulation drives and reads.
// Relies on both; port A is the test's, to see what can be read when.
module kv_writer_bench #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int LaneWords = 256,
  localparam int WordBits = lpu_mvu_pkg::WordBits,
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic [$clog2(Lanes)-1:0]               position_lane_i,
  input  logic [4:0]                             position_column_i,
  input  logic                                   key_valid_i,
  input  logic [383:0]                           key_codes_i,
  input  logic [15:0]                            key_scale_i,
  input  logic [GroupBits-1:0]                   key_group_i,
  input  logic [23:0]                            key_address_i,
  input  logic [1:0]                             key_nibbles_i,
  input  logic                                   value_early_i,
  input  logic [GroupBits-1:0]                   value_group_i,
  input  logic [23:0]                            value_address_i,
  input  logic [19:0]                            value_row_step_i,
  input  logic [3:0]                             value_head_blocks_i,
  input  logic [GroupBits-1:0]                   value_key_group_i,
  input  logic [23:0]                            value_key_address_i,
  input  logic                                   value_valid_i,
  input  logic [2:0]                             value_block_i,
  input  logic [255:0]                           value_codes_i,
  input  logic [15:0]                            value_scale_i,
  output logic [ColumnGroups-1:0]                second_read_o,
  output logic [ColumnGroups*Lanes-1:0]          second_write_o,
  output logic [ColumnGroups*24-1:0]             second_address_o,
  output logic [ColumnGroups*Lanes*WordBits-1:0] second_words_o,
  output logic [7:0]                             error_o,
  input  logic                                   fill_i,           // a word of every lane, before the test
  input  logic [23:0]                            fill_address_i,
  input  logic [ColumnGroups*Lanes*WordBits-1:0] fill_words_i,
  input  logic                                   read_i,
  input  logic [23:0]                            read_address_i,
  output logic [ColumnGroups*Lanes*WordBits-1:0] read_words_o
);
  logic [ColumnGroups*Lanes*WordBits-1:0] second_words;
  lpu_kv_writer #(.Lanes(Lanes), .ColumnGroups(ColumnGroups), .LaneWords(LaneWords)) u_writer (
    .second_words_i(second_words),
    .*
  );
  for (genvar group = 0; group < ColumnGroups; group++) begin : gen_group
    lpu_lane_memory #(.Lanes(Lanes), .LaneWords(LaneWords)) u_memory (
      .clk_i,
      .rst_ni,
      .read_i,
      .read_address_i,
      .read_words_o(read_words_o[group*Lanes*WordBits+:Lanes*WordBits]),
      .second_read_i(second_read_o[group]),
      .second_write_i(fill_i ? '1 : second_write_o[group*Lanes+:Lanes]),
      .second_address_i(fill_i ? fill_address_i : second_address_o[group*24+:24]),
      .second_words_i(fill_i ? fill_words_i[group*Lanes*WordBits+:Lanes*WordBits]
                             : second_words_o[group*Lanes*WordBits+:Lanes*WordBits]),
      .second_words_o(second_words[group*Lanes*WordBits+:Lanes*WordBits])
    );
  end
endmodule
