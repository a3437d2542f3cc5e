// The matrix-vector unit with its memories: instructions in, exact sums in accumulators out (docs/units/mvu.md).
//
//   decode → beats → lane, minimum and activation memories → one dot per column group → sums per segment → readers
//                                 residual → align ─────────────────────────────────────┘
//
// An instruction is handed over DecodeCycles before its issue cycle t; its beat k is issued in t + k; what a beat ends
// can be read from its cycle + MatvecCycles on. Nothing waits and nothing asks: hazards are the schedule's fault, and
// assertions catch them in simulation.
module lpu_mvu #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  parameter int SoftmaxLanes = 2,
  parameter bit HasMinimum = 1'b1,
  parameter int LaneWords = 256,
  parameter int MinimumWords = 256,
  parameter int AccumulatorEntries = 16,
  parameter int ActivationBlocks = 64,
  localparam int WordBits = lpu_mvu_pkg::WordBits,
  localparam int MinimumBits = lpu_mvu_pkg::MinimumBits,
  localparam int BlockBits = lpu_mvu_pkg::BlockBits,
  localparam int ExponentBits = lpu_mvu_pkg::BlockExponentBits,
  localparam int AccumulatorBits = lpu_pkg::AccumulatorBits,
  localparam int ScaleBits = lpu_pkg::ScaleBits,
  localparam int EntryBits = $clog2(AccumulatorEntries),
  localparam int VectorSliceBits = (Lanes > VectorLanes) ? $clog2(Lanes / VectorLanes) : 1,
  localparam int SoftmaxSliceBits = (Lanes > SoftmaxLanes) ? $clog2(Lanes / SoftmaxLanes) : 1,
  localparam int CountBits = $clog2(Lanes + 1)
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  // instructions, DecodeCycles before their issue
  input  logic                                        instruction_valid_i,
  input  logic [lpu_pkg::InstructionBits-1:0]         instruction_i,
  input  logic [15:0]                                 iteration_i,
  input  logic [15:0]                                 blocks_i,
  output logic                                        beat_o,                  // a beat is issued in this cycle
  // the lanes' words of one address, for kEmbed: in no cycle with a beat
  input  logic                                        embed_read_i,
  input  logic [23:0]                                 embed_address_i,
  input  logic                                        embed_minimum_read_i,
  input  logic [23:0]                                 embed_minimum_address_i,
  output logic [ColumnGroups*Lanes*WordBits-1:0]      words_o,                 // three cycles later: [group][lane]
  output logic [ColumnGroups*Lanes*MinimumBits-1:0]   minimums_o,
  // the lane memories' second ports
  input  logic [ColumnGroups-1:0]                     second_read_i,
  input  logic [ColumnGroups*Lanes-1:0]               second_write_i,          // [group][lane]
  input  logic [ColumnGroups*24-1:0]                  second_address_i,
  input  logic [ColumnGroups*Lanes*WordBits-1:0]      second_words_i,
  output logic [ColumnGroups*Lanes*WordBits-1:0]      second_words_o,          // two cycles later
  // loading minimums
  input  logic [ColumnGroups*Lanes-1:0]               minimum_write_i,
  input  logic [23:0]                                 minimum_address_i,
  input  logic [ColumnGroups*Lanes*MinimumBits-1:0]   minimum_words_i,
  // activation blocks, shown one cycle before they can be read
  input  logic [ColumnGroups-1:0]                     block_write_i,
  input  logic [ColumnGroups*16-1:0]                  block_address_i,
  input  logic [ColumnGroups*BlockBits-1:0]           block_i,
  // E of a round, by segment, in the cycle of the beat that asks
  output logic [5:0]                                  round_o,
  input  logic [ColumnGroups*ExponentBits-1:0]        round_exponents_i,
  // residual values and row exponents, ResidualCycles after the cycle that asks
  output logic                                        residual_read_o,
  output logic [19:0]                                 residual_row_o,
  output logic [23:0]                                 exponent_address_o,
  input  logic [Lanes*32-1:0]                         residual_values_i,
  input  logic [Lanes*lpu_pkg::RowExponentBits-1:0]   row_exponents_i,
  output logic [CountBits-1:0]                        saturations_o,
  // accumulators, AccumulatorReadCycles after the request
  input  logic [ColumnGroups-1:0]                     vector_read_i,           // one-hot segment
  input  logic [EntryBits-1:0]                        vector_entry_i,
  input  logic [VectorSliceBits-1:0]                  vector_slice_i,
  output logic [VectorLanes*AccumulatorBits-1:0]      vector_sums_o,
  input  logic [ColumnGroups-1:0]                     softmax_read_i,
  input  logic [EntryBits-1:0]                        softmax_entry_i,
  input  logic [SoftmaxSliceBits-1:0]                 softmax_slice_i,
  output logic [SoftmaxLanes*AccumulatorBits-1:0]     softmax_sums_o,
  output logic [SoftmaxLanes*ScaleBits-1:0]           softmax_scales_o,
  // a lpu_pkg::Error… in the cycle after what it means, else 0
  output logic [7:0]                                  error_o,
  // for lockstep: what a beat reads, and the sums that can be read from the next cycle on
  output logic [23:0]                                 beat_word_o,
  output logic [15:0]                                 beat_block_o,
  output logic                                        beat_relative_o,
  output logic [ColumnGroups-1:0]                     sum_write_o,             // by segment
  output logic [EntryBits-1:0]                        sum_entry_o,
  output logic [ColumnGroups*Lanes*AccumulatorBits-1:0] sums_o                 // [segment][lower, upper half][lane]
);
  if (lpu_pkg::MatvecCycles != lpu_mvu_pkg::SumStage + 1) begin : gen_check_cycles
    $error("lpu_mvu: the pipeline has another length than the contract's MatvecCycles");
  end
  if (WordBits != lpu_pkg::WordDataBits + lpu_pkg::WordSideBits ||
      MinimumBits != lpu_pkg::MinimumMantissaBits + lpu_pkg::MinimumShiftBits ||
      lpu_mvu_pkg::BlockMantissasBits != lpu_pkg::BlockValues * lpu_pkg::MantissaBits ||
      lpu_mvu_pkg::BlockExponentBits != lpu_pkg::BlockExponentBits ||
      lpu_mvu_pkg::LowBits + lpu_mvu_pkg::HighBits != AccumulatorBits || lpu_pkg::WindowBinades != 32 ||
      lpu_mvu_pkg::MaxSegments != lpu_pkg::MaxSegments || lpu_pkg::MinimumFractionBits != 4) begin : gen_check_widths
    $error("lpu_mvu: a width of lpu_mvu_pkg isn't the contract's");
  end
  if (ColumnGroups < 1 || ColumnGroups > 256 || AccumulatorEntries < 8 || AccumulatorEntries > 4096) begin : gen_check
    $error("lpu_mvu: ColumnGroups must be 1 to 256, AccumulatorEntries 8 to 4096");
  end

  localparam int Segments = lpu_mvu_pkg::most_segments(ColumnGroups);
  localparam int LowBits = lpu_mvu_pkg::LowBits;
  localparam int TermHighBits = lpu_mvu_pkg::TermHighBits;

  // ---- instruction to beats
  logic take;
  lpu_mvu_pkg::burst_t burst;
  lpu_mvu_decode #(.Lanes(Lanes), .ColumnGroups(ColumnGroups)) u_decode (
    .clk_i, .rst_ni, .valid_i(instruction_valid_i), .instruction_i, .iteration_i, .blocks_i, .valid_o(take),
    .burst_o(burst)
  );
  lpu_mvu_pkg::beat_t beat_0;
  logic [23:0] word_address, beat_minimum_address;
  logic beat_minimum_read;
  logic [15:0] activation_address;
  logic burst_inside;
  lpu_mvu_beats #(.Lanes(Lanes), .AccumulatorEntries(AccumulatorEntries)) u_beats (
    .clk_i, .rst_ni, .take_i(take), .burst_i(burst), .beat_o(beat_0), .word_address_o(word_address),
    .minimum_read_o(beat_minimum_read), .minimum_address_o(beat_minimum_address),
    .activation_address_o(activation_address), .round_o, .residual_read_o, .residual_row_o, .exponent_address_o,
    .inside_o(burst_inside)
  );
  assign beat_o = beat_0.valid;
  assign beat_word_o = word_address;
  assign beat_block_o = activation_address;
  assign beat_relative_o = beat_0.relative_exponents;

  // ---- the beat's record beside its numbers
  localparam int BeatBits = $bits(beat_0);
  lpu_mvu_pkg::beat_t beat_1, beat_2, beat_3, beat_4, beat_14;
  always_ff @(posedge clk_i) begin
    beat_1 <= beat_0;
    beat_2 <= beat_1;
    beat_3 <= beat_2;
    beat_4 <= beat_3;
    if (!rst_ni) begin
      beat_1.valid <= 1'b0;
      beat_2.valid <= 1'b0;
      beat_3.valid <= 1'b0;
      beat_4.valid <= 1'b0;
    end
  end
  lpu_delay #(.Width(BeatBits), .Cycles(14 - 4), .HasReset(1'b1)) u_beat (
    .clk_i, .rst_ni, .value_i(beat_4), .value_o(beat_14)
  );

  // ---- E of each group's segment
  logic [ColumnGroups*ExponentBits-1:0] round_exponents_1, group_exponents_2, group_exponents_3;
  logic [ColumnGroups*ExponentBits-1:0] group_exponents;
  always_comb begin
    group_exponents = '0;
    for (int count = 1; count <= Segments; count++)
      if (ColumnGroups % count == 0 && beat_1.segments == 9'(count))
        for (int group = 0; group < ColumnGroups; group++)
          group_exponents[group*ExponentBits+:ExponentBits] =
              round_exponents_1[group/(ColumnGroups/count)*ExponentBits+:ExponentBits];
  end
  always_ff @(posedge clk_i) begin
    round_exponents_1 <= round_exponents_i;
    group_exponents_2 <= group_exponents;
    group_exponents_3 <= group_exponents_2;
  end

  // ---- memories and multipliers, group by group
  logic [ColumnGroups*Lanes*LowBits-1:0] lows_15;
  logic [ColumnGroups*Lanes*TermHighBits-1:0] highs_15;
  for (genvar group = 0; group < ColumnGroups; group++) begin : gen_group
    logic [BlockBits-1:0] block_3;
    lpu_lane_memory #(.Lanes(Lanes), .LaneWords(LaneWords)) u_lanes (
      .clk_i,
      .rst_ni,
      .read_i(beat_0.valid || embed_read_i),
      .read_address_i(embed_read_i ? embed_address_i : word_address),
      .read_words_o(words_o[group*Lanes*WordBits+:Lanes*WordBits]),
      .second_read_i(second_read_i[group]),
      .second_write_i(second_write_i[group*Lanes+:Lanes]),
      .second_address_i(second_address_i[group*24+:24]),
      .second_words_i(second_words_i[group*Lanes*WordBits+:Lanes*WordBits]),
      .second_words_o(second_words_o[group*Lanes*WordBits+:Lanes*WordBits])
    );
    lpu_minimum_memory #(.Lanes(Lanes), .HasMinimum(HasMinimum), .MinimumWords(MinimumWords)) u_minimums (
      .clk_i,
      .rst_ni,
      .read_i(beat_minimum_read || embed_minimum_read_i),
      .read_address_i(embed_minimum_read_i ? embed_minimum_address_i : beat_minimum_address),
      .read_words_o(minimums_o[group*Lanes*MinimumBits+:Lanes*MinimumBits]),
      .write_i(minimum_write_i[group*Lanes+:Lanes]),
      .write_address_i(minimum_address_i),
      .write_words_i(minimum_words_i[group*Lanes*MinimumBits+:Lanes*MinimumBits])
    );
    lpu_activation_memory #(.ActivationBlocks(ActivationBlocks)) u_blocks (
      .clk_i,
      .rst_ni,
      .read_i(beat_0.valid),
      .read_address_i(activation_address),
      .read_block_o(block_3),
      .write_i(block_write_i[group]),
      .write_address_i(block_address_i[group*16+:16]),
      .write_block_i(block_i[group*BlockBits+:BlockBits])
    );
    lpu_mvu_dot #(.Lanes(Lanes)) u_dot (
      .clk_i,
      .rst_ni,
      .beat_i(beat_3),
      .words_i(words_o[group*Lanes*WordBits+:Lanes*WordBits]),
      .minimums_i(minimums_o[group*Lanes*MinimumBits+:Lanes*MinimumBits]),
      .block_i(block_3),
      .row_exponent_i(group_exponents_3[group*ExponentBits+:ExponentBits]),
      .low_o(lows_15[group*Lanes*LowBits+:Lanes*LowBits]),
      .high_o(highs_15[group*Lanes*TermHighBits+:Lanes*TermHighBits])
    );
  end

  // ---- V's scales: side bits of word 1 of each segment's first group, held until the block ends
  logic [Segments*Lanes*ScaleBits-1:0] value_scales_4, value_scales_19;
  always_ff @(posedge clk_i)
    if (beat_3.valid && beat_3.keeps_value_scale && beat_3.nibble == 2'd1)
      for (int count = 1; count <= Segments; count++)
        if (ColumnGroups % count == 0 && beat_3.segments == 9'(count))
          for (int segment = 0; segment < count; segment++)
            for (int lane = 0; lane < Lanes; lane++)
              value_scales_4[(segment*Lanes+lane)*ScaleBits+:ScaleBits] <=
                  words_o[(segment*(ColumnGroups/count)*Lanes+lane)*WordBits+lpu_pkg::WordDataBits+:ScaleBits];
  lpu_ring_delay #(.Width(Segments * Lanes * ScaleBits), .Cycles(lpu_mvu_pkg::SumStage - 4)) u_value_scales (
    .clk_i, .rst_ni, .value_i(value_scales_4), .value_o(value_scales_19)
  );

  // ---- the residual that sums start at
  logic residual_valid_3;
  logic [Lanes*LowBits-1:0] aligned_low_17;
  logic [Lanes*lpu_mvu_pkg::HighBits-1:0] aligned_high_17;
  lpu_delay #(.Width(1), .Cycles(lpu_mvu_pkg::ResidualCycles), .HasReset(1'b1)) u_residual (
    .clk_i, .rst_ni, .value_i(residual_read_o), .value_o(residual_valid_3)
  );
  lpu_mvu_align #(.Lanes(Lanes)) u_align (
    .clk_i, .rst_ni, .valid_i(residual_valid_3), .values_i(residual_values_i), .row_exponents_i,
    .low_o(aligned_low_17), .high_o(aligned_high_17), .saturations_o
  );

  // ---- sums
  lpu_mvu_sum #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .AccumulatorEntries(AccumulatorEntries), .VectorLanes(VectorLanes),
    .SoftmaxLanes(SoftmaxLanes)
  ) u_sum (
    .clk_i,
    .rst_ni,
    .beat_i(beat_14),
    .lows_i(lows_15),
    .highs_i(highs_15),
    .aligned_low_i(aligned_low_17),
    .aligned_high_i(aligned_high_17),
    .value_scales_i(value_scales_19),
    .vector_read_i,
    .vector_entry_i,
    .vector_slice_i,
    .vector_sums_o,
    .softmax_read_i,
    .softmax_entry_i,
    .softmax_slice_i,
    .softmax_sums_o,
    .softmax_scales_o,
    .sum_write_o,
    .sum_entry_o,
    .sums_o
  );

  // ---- what a program must not do: seen in every machine, not in simulation only
  logic splits, beyond, meets;
  always_comb begin
    splits = 1'b0;
    for (int count = 1; count <= Segments; count++)
      splits = splits || (ColumnGroups % count == 0 && beat_0.segments == 9'(count));
  end
  assign beyond = (beat_0.valid && (!splits || {1'b0, word_address} >= 25'(LaneWords) ||
                                    {1'b0, activation_address} >= 17'(ActivationBlocks) ||
                                    {1'b0, beat_0.entry} >= 13'(AccumulatorEntries))) ||
                  (embed_read_i && {1'b0, embed_address_i} >= 25'(LaneWords)) ||
                  (beat_minimum_read && (!HasMinimum || {1'b0, beat_minimum_address} >= 25'(MinimumWords))) ||
                  (embed_minimum_read_i && (!HasMinimum || {1'b0, embed_minimum_address_i} >= 25'(MinimumWords)));
  assign meets = (embed_read_i && beat_0.valid) || (embed_minimum_read_i && beat_minimum_read);
  always_ff @(posedge clk_i)
    if (!rst_ni) error_o <= 8'd0;
    else if (burst_inside) error_o <= 8'(lpu_pkg::ErrorBusy);
    else if (meets) error_o <= 8'(lpu_pkg::ErrorPort);
    else if (beyond) error_o <= 8'(lpu_pkg::ErrorAddress);
    else error_o <= 8'd0;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni) begin
      assert (!(embed_read_i && beat_0.valid)) else $error("%m: kEmbed reads the lanes' memories in a beat's cycle");
      assert (!(embed_minimum_read_i && beat_minimum_read)) else $error("%m: kEmbed reads minimums in a beat's cycle");
      assert (HasMinimum || !beat_minimum_read) else $error("%m: this machine has no minimums");
    end
`endif
endmodule
