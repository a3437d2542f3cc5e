// V's columns of one column group (docs/isa.md, kValue): the codes of a head wait here by blocks of 32; a row group at
// a time, two words are read and written back with one nibble of each lane changed: four cycles, one after another.
// It exists for each group, since heads of different groups overlap; heads of one group follow each other in the
// port's time, the next one's first codes may come while the last row group of the one before is written.
// Relies on lpu_kv_port, which has the words.
module lpu_value_rows #(
  parameter int Lanes = 4,
  parameter int MaxHeadBlocks = 8,
  localparam int Values = lpu_pkg::BlockValues,
  localparam int CodeBits = lpu_pkg::KvMantissaBits,
  localparam int BlockBits = (MaxHeadBlocks > 1) ? $clog2(MaxHeadBlocks) : 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // a head: in the cycle before its first read
  input  logic                       start_i,
  input  logic [23:0]                start_address_i,      // of word 0 of row group 0
  input  logic [19:0]                start_row_step_i,     // words from one row group to the next
  input  logic [3:0]                 start_blocks_i,       // 1 to MaxHeadBlocks
  // its codes: block b from a cycle before start_i + b on
  input  logic                       codes_write_i,
  input  logic [BlockBits-1:0]       codes_block_i,
  input  logic [Values*CodeBits-1:0] codes_i,
  // the port: read word 0, read word 1, write word 0, write word 1, then the next row group
  output logic                       read_o,
  output logic                       write_o,
  output logic [23:0]                address_o,
  output logic [Lanes-1:0]           lanes_o,              // of the head
  output logic [Lanes*4-1:0]         nibbles_o,            // of the word that is written
  output logic                       overrun_o             // a head starts before the last one's end
);
  localparam int GroupsOfBlock = (Lanes < Values) ? Values / Lanes : 1;   // row groups of a block
  localparam int BlocksOfGroup = (Lanes > Values) ? Lanes / Values : 1;   // blocks of a row group
  localparam int Places = (MaxHeadBlocks + BlocksOfGroup - 1) / BlocksOfGroup;
  localparam int PlaceBits = (Places > 1) ? $clog2(Places) : 1;
  localparam int PartBits = $clog2(GroupsOfBlock);
  localparam int BankBits = $clog2(BlocksOfGroup);
  localparam int RowBits = PlaceBits + PartBits + 1;                      // a row group's number
  localparam int BankLanes = Lanes / BlocksOfGroup;
  localparam int BankCodeBits = BankLanes * CodeBits;

  // ---- state: phase 0, 1 read words 0, 1; 2, 3 write them
  logic               active_q;
  logic [1:0]         phase_q;
  logic [23:0]        address_q;
  logic [19:0]        row_step_q;
  logic [RowBits-1:0] row_q, last_row_q;
  logic [3:0]         blocks_q;
  logic               ends;
  assign ends = phase_q == 2'd3 && row_q == last_row_q;
  assign read_o = active_q && !phase_q[1];
  assign write_o = active_q && phase_q[1];
  assign address_o = phase_q[0] ? address_q + 24'd1 : address_q;
  assign overrun_o = start_i && active_q && !ends;

  logic [RowBits-1:0] start_last_row;
  assign start_last_row = RowBits'(((32'(start_blocks_i) + BlocksOfGroup - 1) / BlocksOfGroup) * GroupsOfBlock - 1);

  always_ff @(posedge clk_i) begin
    phase_q <= phase_q + 2'd1;
    if (phase_q == 2'd3) begin
      address_q <= address_q + 24'(row_step_q);
      row_q <= row_q + 1'b1;
      if (ends) active_q <= 1'b0;
    end
    if (start_i) begin
      active_q <= 1'b1;
      phase_q <= '0;
      address_q <= start_address_i;
      row_step_q <= start_row_step_i;
      row_q <= '0;
      last_row_q <= start_last_row;
      blocks_q <= start_blocks_i;
    end
    if (!rst_ni) active_q <= 1'b0;
  end

  // ---- codes: row group r's come out of their places while its second word is read
  logic [Lanes*CodeBits-1:0] codes_q;
  for (genvar bank = 0; bank < BlocksOfGroup; bank++) begin : gen_bank
    (* ram_style = "distributed" *)
    logic [Values*CodeBits-1:0] places[Places];
    logic [PlaceBits-1:0]       write_place, read_place;
    logic                       chosen;
    assign write_place = PlaceBits'(codes_block_i >> BankBits);
    assign chosen = (32'(codes_block_i) & (BlocksOfGroup - 1)) == bank;
    assign read_place = row_q[PartBits+:PlaceBits];
    always_ff @(posedge clk_i) if (codes_write_i && chosen) places[write_place] <= codes_i;

    logic [Values*CodeBits-1:0] block;
    logic [BankCodeBits-1:0]    part;
    assign block = places[read_place];
    if (GroupsOfBlock > 1) begin : gen_part
      assign part = block[row_q[PartBits-1:0] * BankCodeBits+:BankCodeBits];
    end else begin : gen_whole
      assign part = block;
    end
    always_ff @(posedge clk_i) if (phase_q == 2'd1) codes_q[bank*BankCodeBits+:BankCodeBits] <= part;
    assign lanes_o[bank*BankLanes+:BankLanes] =
        {BankLanes{(32'(row_q) >> PartBits) * BlocksOfGroup + bank < 32'(blocks_q)}};
  end

  always_comb begin
    for (int lane = 0; lane < Lanes; lane++)
      nibbles_o[lane*4+:4] = phase_q[0] ? codes_q[lane*CodeBits+4+:4] : codes_q[lane*CodeBits+:4];
  end
endmodule
