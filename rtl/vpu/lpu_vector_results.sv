// Where the vector unit's results go: the tag of every entry (bank, addresses, rows) waits beside the arithmetic for
// the fixed time of its chain and meets the result there. Out come writes of activation blocks, residual values and
// scale registers, codes of K and V with their places, logits, and the next token.
// Everything is shown in the cycle before the one in which docs/isa.md calls it readable; K and V as lpu_kv_writer
// wants them. Relies on lpu_block_writes, lpu_choice, lpu_delay; latencies from lpu_pkg.
module lpu_vector_results #(
  parameter int ColumnGroups = 2,
  parameter int ActivationBlocks = 16,
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1,
  localparam int BlockBits = lpu_mvu_pkg::BlockBits,
  localparam int MantissasBits = lpu_mvu_pkg::BlockMantissasBits,
  localparam int OffsetBits = lpu_pkg::ExponentBits
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         token_start_i,
  input  logic                         samples_i,
  // ---- an entry and its tag, cycle e
  input  logic                         entry_valid_i,
  input  logic [3:0]                   entry_kind_i,
  input  logic                         entry_end_i,
  input  logic                         entry_has_bias_i,
  input  logic [19:0]                  entry_row_i,          // kLogits: id of lane 0
  input  logic                         scale_register_i,     // kResidual, kEmbed: where 1/rms goes
  input  logic [GroupBits-1:0]         tag_bank_i,           // bank of the block, group of K's or V's words
  input  logic [23:0]                  tag_address_i,        // block; first word of K, of V
  input  logic [1:0]                   tag_nibbles_i,        // K: words of a block
  input  logic [19:0]                  tag_row_step_i,       // V: words from one row group to the next
  input  logic [GroupBits-1:0]         tag_key_group_i,      // V: where its scale lies
  input  logic [23:0]                  tag_key_address_i,
  input  logic [3:0]                   tag_head_blocks_i,    // V
  input  logic [19:0]                  tag_residual_row_i,   // first row of the slice
  // ---- lpu_vector_unit's results
  input  logic                         residual_valid_i,     // e + 4
  input  logic                         norm_block_valid_i,   // e + 12
  input  logic [MantissasBits-1:0]     norm_mantissas_i,
  input  logic [OffsetBits-1:0]        norm_offset_i,
  input  logic                         scale_valid_i,        // e + 33
  input  logic [31:0]                  scale_i,
  input  logic                         query_valid_i,        // e + 21, with a bias e + 26
  input  logic [MantissasBits-1:0]     query_mantissas_i,
  input  logic [OffsetBits-1:0]        query_offset_i,
  input  logic                         mix_valid_i,          // e + 12
  input  logic [MantissasBits-1:0]     mix_mantissas_i,
  input  logic [OffsetBits-1:0]        mix_offset_i,
  input  logic                         swiglu_valid_i,       // e + 24
  input  logic [MantissasBits-1:0]     swiglu_mantissas_i,
  input  logic [OffsetBits-1:0]        swiglu_offset_i,
  input  logic                         best_valid_i,         // e + 16
  input  logic [19:0]                  best_id_i,
  input  logic                         sample_valid_i,       // e + 20
  input  logic [19:0]                  sample_id_i,
  input  logic                         saturated_i,
  input  logic                         noise_wrong_i,
  // ---- activation banks
  output logic [ColumnGroups-1:0]           block_write_o,
  output logic [ColumnGroups*16-1:0]        block_address_o,
  output logic [ColumnGroups*BlockBits-1:0] block_o,
  // ---- residual memory: the row of residual_o
  output logic [19:0]                  residual_row_o,
  // ---- scale registers; the write is shown, too
  output logic [63:0]                  scales_o,             // {register 1, register 0}
  output logic                         scale_write_o,
  output logic                         scale_register_o,
  output logic [31:0]                  scale_o,
  // ---- lpu_kv_writer: K's place with its codes (e + 35), V's ahead of them (e + 24); with a bias five cycles later
  output logic [GroupBits-1:0]         key_group_o,
  output logic [23:0]                  key_address_o,
  output logic [1:0]                   key_nibbles_o,
  output logic                         value_early_o,
  output logic [GroupBits-1:0]         value_group_o,
  output logic [23:0]                  value_address_o,
  output logic [19:0]                  value_row_step_o,
  output logic [GroupBits-1:0]         value_key_group_o,
  output logic [23:0]                  value_key_address_o,
  output logic [3:0]                   value_head_blocks_o,
  // ---- head
  output logic [19:0]                  logits_row_o,         // with the logits, e + 8
  output logic                         next_valid_o,
  output logic [23:0]                  next_token_o,
  output logic                         next_write_o,
  // ---- token
  output logic                         saturated_o,          // a number saturated since the token's start
  output logic                         landed_o,             // something of this unit is readable from the next one on
  output logic [7:0]                   error_o               // lpu_pkg::Error…, for a cycle
);
  localparam int Chains = 4;
  localparam int ResidualStage = lpu_pkg::ResidualCycles - 1;
  localparam int LogitStage = lpu_pkg::ConvertCycles + lpu_pkg::MultiplyCycles;
  localparam int BlockStage = lpu_pkg::ResidualBlockCycles - 1;
  localparam int SwigluStage = lpu_pkg::SwigluCycles - 1;
  localparam int ScaleStage = lpu_pkg::NormCycles - 1;
  localparam int QueryStage = lpu_pkg::QueryCycles - 1;
  localparam int ValueStage = lpu_pkg::ValueCycles - lpu_pkg::ValueScaleReadCycles - 1;
  localparam int KeyStage = lpu_pkg::KeyCycles - 4;

  if (lpu_pkg::MixCycles != lpu_pkg::ResidualBlockCycles) begin : gen_check_mix
    $error("lpu_vector_results: mix and norm blocks share their tags' delay");
  end
  if (!(BlockStage < SwigluStage && QueryStage < ValueStage && ValueStage < KeyStage)) begin : gen_check_order
    $error("lpu_vector_results: tags wait in this order");
  end

  // ---- rows and registers
  lpu_delay #(.Width(20), .Cycles(ResidualStage)) u_residual_row (
    .clk_i, .rst_ni(1'b1), .value_i(tag_residual_row_i), .value_o(residual_row_o)
  );
  lpu_delay #(.Width(20), .Cycles(LogitStage)) u_logits_row (
    .clk_i, .rst_ni(1'b1), .value_i(entry_row_i), .value_o(logits_row_o)
  );
  lpu_delay #(.Width(1), .Cycles(ScaleStage)) u_scale_register (
    .clk_i, .rst_ni(1'b1), .value_i(scale_register_i), .value_o(scale_register_o)
  );
  assign scale_write_o = scale_valid_i;
  assign scale_o = scale_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) scales_o <= '0;
    else if (scale_valid_i) scales_o[32'(scale_register_o)*32+:32] <= scale_i;
  end

  // ---- places of blocks without a bias: norm and mix, then swiglu
  logic [GroupBits+15:0] place_block;
  logic [GroupBits+15:0] place_swiglu;
  lpu_delay #(.Width(GroupBits + 16), .Cycles(BlockStage)) u_place_block (
    .clk_i, .rst_ni(1'b1), .value_i({tag_bank_i, tag_address_i[15:0]}), .value_o(place_block)
  );
  lpu_delay #(.Width(GroupBits + 16), .Cycles(SwigluStage - BlockStage)) u_place_swiglu (
    .clk_i, .rst_ni(1'b1), .value_i(place_block), .value_o(place_swiglu)
  );

  // ---- places of query, key and value: with a bias they start later (lpu_chain_project keeps both kinds apart)
  localparam int KeyTagBits = GroupBits + 24 + 2;
  localparam int TagBits = KeyTagBits + 20 + GroupBits + 24 + 4;
  logic               value_ends, biased_ends, ends;
  logic               is_biased;
  logic [TagBits-1:0] tag_in, tag_biased, tag, tag_query, tag_value;
  logic               ends_query;
  assign value_ends = entry_valid_i && entry_end_i && entry_kind_i == 4'(lpu_pkg::OpcodeValue);
  assign tag_in = {tag_bank_i, tag_address_i, tag_nibbles_i, tag_row_step_i, tag_key_group_i, tag_key_address_i,
                   tag_head_blocks_i};
  lpu_delay #(.Width(2), .Cycles(lpu_pkg::BiasCycles), .HasReset(1'b1)) u_bias_valid (
    .clk_i, .rst_ni, .value_i({entry_valid_i && entry_has_bias_i, value_ends && entry_has_bias_i}),
    .value_o({is_biased, biased_ends})
  );
  lpu_delay #(.Width(TagBits), .Cycles(lpu_pkg::BiasCycles)) u_bias_tag (
    .clk_i, .rst_ni(1'b1), .value_i(tag_in), .value_o(tag_biased)
  );
  assign tag = is_biased ? tag_biased : tag_in;
  assign ends = is_biased ? biased_ends : value_ends && !entry_has_bias_i;

  lpu_delay #(.Width(TagBits), .Cycles(QueryStage)) u_tag_query (
    .clk_i, .rst_ni(1'b1), .value_i(tag), .value_o(tag_query)
  );
  lpu_delay #(.Width(TagBits), .Cycles(ValueStage - QueryStage)) u_tag_value (
    .clk_i, .rst_ni(1'b1), .value_i(tag_query), .value_o(tag_value)
  );
  lpu_delay #(.Width(KeyTagBits), .Cycles(KeyStage - ValueStage)) u_tag_key (
    .clk_i, .rst_ni(1'b1), .value_i(tag_value[TagBits-1-:KeyTagBits]),
    .value_o({key_group_o, key_address_o, key_nibbles_o})
  );
  lpu_delay #(.Cycles(QueryStage), .HasReset(1'b1)) u_ends_query (
    .clk_i, .rst_ni, .value_i(ends), .value_o(ends_query)
  );
  lpu_delay #(.Cycles(ValueStage - QueryStage), .HasReset(1'b1)) u_ends_value (
    .clk_i, .rst_ni, .value_i(ends_query), .value_o(value_early_o)
  );
  logic [1:0] unused_nibbles;
  assign {value_group_o, value_address_o, unused_nibbles, value_row_step_o, value_key_group_o, value_key_address_o,
          value_head_blocks_o} = tag_value;

  // ---- blocks
  logic block_meets;
  logic block_outside;
  lpu_block_writes #(
    .ColumnGroups(ColumnGroups), .Chains(Chains), .ActivationBlocks(ActivationBlocks)
  ) u_blocks (
    .valid_i({swiglu_valid_i, mix_valid_i, query_valid_i, norm_block_valid_i}),
    .bank_i({place_swiglu[16+:GroupBits], place_block[16+:GroupBits], tag_query[TagBits-1-:GroupBits],
             place_block[16+:GroupBits]}),
    .address_i({place_swiglu[15:0], place_block[15:0], tag_query[TagBits-GroupBits-9-:16], place_block[15:0]}),
    .mantissas_i({swiglu_mantissas_i, mix_mantissas_i, query_mantissas_i, norm_mantissas_i}),
    .offset_i({swiglu_offset_i, mix_offset_i, query_offset_i, norm_offset_i}),
    .write_o(block_write_o), .address_o(block_address_o), .block_o, .meets_o(block_meets), .outside_o(block_outside)
  );

  // ---- head
  logic choice_landed;
  lpu_choice u_choice (
    .clk_i, .rst_ni, .token_start_i, .samples_i, .best_valid_i, .best_id_i, .sample_valid_i, .sample_id_i,
    .next_valid_o, .next_token_o, .next_write_o, .landed_o(choice_landed)
  );

  // ---- what the core counts and watches
  logic saturated_q;
  assign saturated_o = saturated_q || saturated_i;
  assign landed_o = (block_write_o != '0) || residual_valid_i || scale_valid_i || choice_landed;
  always_ff @(posedge clk_i) begin
    // Saturations are reported before their result is readable: in the next token's first cycle they are this one's.
    saturated_q <= rst_ni && !token_start_i && saturated_o;
    if (!rst_ni) error_o <= 8'(lpu_pkg::ErrorNone);
    else if (block_meets) error_o <= 8'(lpu_pkg::ErrorPort);
    else if (block_outside) error_o <= 8'(lpu_pkg::ErrorAddress);
    else if (noise_wrong_i) error_o <= 8'(lpu_pkg::ErrorHazard);
    else error_o <= 8'(lpu_pkg::ErrorNone);
  end

  logic unused;
  assign unused = ^{unused_nibbles, tag_query};
endmodule
