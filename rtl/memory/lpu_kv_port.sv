// The second port of one column group's lane memory while tokens run: K's words, V's scale beside K, V's columns. Each
// use comes in its own cycle; one a cycle is all that the port can do, so that two at once, or an address beyond the
// memory, are told and not done.
// Relies on lpu_kv_writer for the times, on lpu_lane_memory for words two cycles after a read.
module lpu_kv_port #(
  parameter int Lanes = 4,
  parameter int LaneWords = 256,
  parameter int MaxHeadBlocks = 8,
  localparam int WordBits = lpu_pkg::WordDataBits + lpu_pkg::WordSideBits,
  localparam int DataBits = lpu_pkg::WordDataBits,
  localparam int ValueCodeBits = lpu_pkg::BlockValues * lpu_pkg::KvMantissaBits,
  localparam int BlockBits = (MaxHeadBlocks > 1) ? $clog2(MaxHeadBlocks) : 1,
  localparam int KeyStages = 3
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [Lanes-1:0]              position_lane_i,    // one-hot: position mod Lanes
  input  logic [4:0]                    position_column_i,  // position mod 32
  // K: a word of each stage
  input  logic [KeyStages-1:0]          key_write_i,
  input  logic [KeyStages*24-1:0]       key_address_i,
  input  logic [KeyStages*WordBits-1:0] key_word_i,
  // V's scale: two cycles apart
  input  logic                          scale_read_i,
  input  logic [23:0]                   scale_read_address_i,
  input  logic                          scale_write_i,
  input  logic [23:0]                   scale_write_address_i,
  input  logic [15:0]                   scale_i,
  // V: see lpu_value_rows
  input  logic                          start_i,
  input  logic [23:0]                   start_address_i,
  input  logic [19:0]                   start_row_step_i,
  input  logic [3:0]                    start_blocks_i,
  input  logic                          codes_write_i,
  input  logic [BlockBits-1:0]          codes_block_i,
  input  logic [ValueCodeBits-1:0]      codes_i,
  // the port
  output logic                          second_read_o,
  output logic [Lanes-1:0]              second_write_o,
  output logic [23:0]                   second_address_o,
  output logic [Lanes*WordBits-1:0]     second_words_o,
  input  logic [Lanes*WordBits-1:0]     second_words_i,
  output logic                          out_of_range_o,
  output logic                          collides_o
);
  logic               value_read, value_write, overrun;
  logic [23:0]        value_address;
  logic [Lanes-1:0]   value_lanes;
  logic [Lanes*4-1:0] nibbles;
  lpu_value_rows #(.Lanes(Lanes), .MaxHeadBlocks(MaxHeadBlocks)) u_rows (
    .clk_i, .rst_ni, .start_i, .start_address_i, .start_row_step_i, .start_blocks_i, .codes_write_i, .codes_block_i,
    .codes_i, .read_o(value_read), .write_o(value_write), .address_o(value_address), .lanes_o(value_lanes),
    .nibbles_o(nibbles), .overrun_o(overrun)
  );

  // ---- one use
  localparam int Uses = KeyStages + 3;
  logic [Uses-1:0]    uses;
  logic [Uses*24-1:0] addresses;
  assign uses = {value_read || value_write, scale_write_i, scale_read_i, key_write_i};
  assign addresses = {value_address, scale_write_address_i, scale_read_address_i, key_address_i};
  logic any, several, allowed;
  always_comb begin
    any = 1'b0;
    several = 1'b0;
    second_address_o = '0;
    for (int use_of = 0; use_of < Uses; use_of++) begin
      several |= any && uses[use_of];
      any |= uses[use_of];
      second_address_o |= addresses[use_of*24+:24] & {24{uses[use_of]}};
    end
  end
  assign collides_o = several || overrun;
  assign out_of_range_o = any && !several && 25'(second_address_o) >= 25'(LaneWords);
  assign allowed = !several && !out_of_range_o;

  logic key_write;
  assign key_write = key_write_i != '0;
  assign second_read_o = allowed && (value_read || scale_read_i);
  assign second_write_o = {Lanes{allowed}} & ((position_lane_i & {Lanes{key_write || scale_write_i}}) |
                                              (value_lanes & {Lanes{value_write}}));

  // ---- its words: K's is the same for every lane, the others change what was read
  logic [WordBits-1:0] key_word;
  logic [DataBits-1:0] column;
  always_comb begin
    key_word = '0;
    for (int stage = 0; stage < KeyStages; stage++)
      key_word |= key_word_i[stage*WordBits+:WordBits] & {WordBits{key_write_i[stage]}};
  end
  assign column = DataBits'(4'hf) << {position_column_i, 2'b00};
  // Lane by lane only where that is wanted: a simulator spends nothing on the many cycles without a write.
  always_comb begin
    second_words_o = key_write ? {Lanes{key_word}} : second_words_i;
    if (value_write)
      for (int lane = 0; lane < Lanes; lane++)
        second_words_o[lane*WordBits+:DataBits] = (second_words_i[lane*WordBits+:DataBits] & ~column) |
                                                  ({DataBits/4{nibbles[lane*4+:4]}} & column);
    if (scale_write_i)
      for (int lane = 0; lane < Lanes; lane++) second_words_o[lane*WordBits+DataBits+:16] = scale_i;
  end
endmodule
