// kEmbed's fetch (docs/isa.md, kEmbed): a token's row of the embedding out of the lanes' memories, as exact sums that
// enter the residual chain: q·s·2^F + m·2^h. It exists beside the matrix unit because a row of the embedding lies in
// one lane: no product runs over it, only that lane's words are picked.
// The instruction comes 8 cycles before its issue cycle t, its token's id may come as late as t − 3. Reads of set c are
// shown in t + c·pitch + n, slice k of its values comes out in t + c·pitch + EmbedFetchCycles + k.
// Relies on lanes being a power of two, on a schedule that leaves lpu_pkg::EmbedFetchCycles behind the last set, and on
// memories that answer three cycles after a request.
module lpu_embed_fetch #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  localparam int WordBits = lpu_mvu_pkg::WordBits,
  localparam int MinimumBits = lpu_mvu_pkg::MinimumBits,
  localparam int SumBits = lpu_pkg::AccumulatorBits
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,
  // any instruction of the VPU, in t − 8
  input  logic                                      valid_i,
  input  logic [lpu_pkg::InstructionBits-1:0]       instruction_i,
  input  logic [15:0]                               iteration_i,
  input  logic [23:0]                               token_i,               // right in t − 3
  // lane memory: one address for all groups; words three cycles after it
  output logic                                      embed_read_o,
  output logic [23:0]                               embed_address_o,
  output logic                                      embed_minimum_read_o,
  output logic [23:0]                               embed_minimum_address_o,
  input  logic [ColumnGroups*Lanes*WordBits-1:0]    words_i,               // [group][lane]
  input  logic [ColumnGroups*Lanes*MinimumBits-1:0] minimums_i,            // [group][lane]
  // the row's exponent: requested in t, word three cycles after it
  output logic                                      exponent_read_o,
  output logic [23:0]                               exponent_address_o,
  input  logic [Lanes*8-1:0]                        exponent_word_i,
  // values, in the cycle of their entry
  output logic [VectorLanes*SumBits-1:0]            embed_sum_o,           // signed
  output logic [7:0]                                embed_row_exponent_o   // signed
);
  localparam int LaneBits = $clog2(Lanes);
  localparam int LowBits = (LaneBits > 3) ? 3 : LaneBits;   // lanes are picked in two steps
  localparam int LowLanes = 1 << LowBits;
  localparam int HighLanes = Lanes / LowLanes;
  localparam int HighBits = (HighLanes > 1) ? $clog2(HighLanes) : 1;
  localparam int Slices = lpu_pkg::BlockValues * ColumnGroups / VectorLanes;  // of a set
  localparam int SliceBits = (Slices > 1) ? $clog2(Slices) : 1;
  localparam int BlockSlices = lpu_pkg::BlockValues / VectorLanes;
  localparam int DataBits = lpu_pkg::WordDataBits;
  localparam int PlaneBits = ColumnGroups * DataBits;
  localparam int SideBits = lpu_pkg::WordSideBits;
  localparam int CodeBits = 13;
  localparam int ScaleBits = SideBits + 1;
  localparam int ProductBits = CodeBits + ScaleBits;
  localparam int LowerBits = lpu_pkg::MinimumMantissaBits + 15;
  localparam int TermBits = ProductBits + lpu_pkg::MinimumFractionBits + 1;
  localparam int Thirds = 699051;  // x/3 of 20 bits is (x · 699051) >> 21

  if (Lanes < 2 || Lanes > 64 || Lanes != 1 << LaneBits) begin : gen_check_lanes
    $error("lpu_embed_fetch: Lanes must be a power of two up to 64");
  end
  if (lpu_pkg::EmbedFetchCycles != 10) begin : gen_check_cycles
    $error("lpu_embed_fetch: stages disagree with EmbedFetchCycles");
  end

  // ---- the instruction: step k is cycle t − 7 + k
  logic [6:0]  steps_q;
  logic        takes;
  logic [15:0] iteration_q;
  logic [23:0] memory_address_q, memory_stride_q, minimum_address_q, exponent_address_q, exponent_stride_q;
  logic [19:0] row_group_words_q;
  logic [11:0] pitch_q;
  logic [15:0] sets_q;
  logic [1:0]  nibbles_q;
  logic [2:0]  flags_q;          // signed code, signed scale, has minimum
  assign takes = valid_i && instruction_i[lpu_pkg::CommonOpcodeLsb+:4] == 4'(lpu_pkg::OpcodeEmbed);
  always_ff @(posedge clk_i) begin
    steps_q <= rst_ni ? {steps_q[5:0], takes} : '0;
    if (takes) begin
      iteration_q <= iteration_i;
      memory_address_q <= instruction_i[lpu_pkg::VectorMemoryAddressLsb+:24];
      memory_stride_q <= instruction_i[lpu_pkg::VectorMemoryStrideLsb+:24];
      minimum_address_q <= instruction_i[lpu_pkg::VectorMinimumAddressLsb+:24];
      exponent_address_q <= instruction_i[lpu_pkg::VectorExponentAddressLsb+:24];
      exponent_stride_q <= instruction_i[lpu_pkg::VectorExponentStrideLsb+:24];
      row_group_words_q <= instruction_i[lpu_pkg::VectorRowGroupWordsLsb+:20];
      pitch_q <= instruction_i[lpu_pkg::VectorPitchCyclesLsb+:12];
      sets_q <= instruction_i[lpu_pkg::VectorColumnSetsLsb+:16];
      nibbles_q <= instruction_i[lpu_pkg::VectorNibblesLsb+:2];
      flags_q <= {instruction_i[lpu_pkg::VectorSignedCodeLsb], instruction_i[lpu_pkg::VectorSignedScaleLsb],
                  instruction_i[lpu_pkg::VectorHasMinimumLsb]};
    end
  end

  function automatic logic [19:0] by_nibbles(input logic [19:0] words, input logic [1:0] nibbles);
    by_nibbles = (nibbles == 2'd3) ? 20'((40'(words) * 40'(Thirds)) >> 21)
                                   : (nibbles == 2'd2) ? {1'b0, words[19:1]} : words;
  endfunction

  // Settled before the token is known.
  logic [23:0] memory_moved_q, exponent_moved_q, memory_base_q, exponent_base_q;
  logic [19:0] minimum_words_q;
  always_ff @(posedge clk_i) begin
    memory_moved_q <= memory_stride_q * 24'(iteration_q);
    exponent_moved_q <= exponent_stride_q * 24'(iteration_q);
    memory_base_q <= memory_address_q + memory_moved_q;
    exponent_base_q <= exponent_address_q + exponent_moved_q;
    minimum_words_q <= by_nibbles(row_group_words_q, nibbles_q);
  end

  // The token in t − 3, its row's places in t. Products of 24 × 20 bits in two parts, joined with the base.
  logic [23:0]         row_q;
  logic [LaneBits-1:0] token_lane_q;
  logic [23:0]         word_low_q, minimum_low_q;
  logic [13:0]         word_high_q, minimum_high_q;
  always_ff @(posedge clk_i) begin
    if (steps_q[4]) begin
      row_q <= 24'(token_i[23:LaneBits]);
      token_lane_q <= token_i[LaneBits-1:0];
    end
    if (steps_q[5]) begin
      word_low_q <= row_q * 24'(row_group_words_q[9:0]);
      word_high_q <= row_q[13:0] * 14'(row_group_words_q[19:10]);
      minimum_low_q <= row_q * 24'(minimum_words_q[9:0]);
      minimum_high_q <= row_q[13:0] * 14'(minimum_words_q[19:10]);
      exponent_address_o <= exponent_base_q + row_q;
    end
  end

  // ---- reads, from t on
  logic                reading_q;
  logic [11:0]         phase_q, last_phase_q;
  logic [15:0]         sets_left_q;
  logic [1:0]          own_nibbles_q;
  logic                signed_code_q, signed_scale_q, has_minimum_q;
  logic [LaneBits-1:0] lane_q;
  logic                read, starts_set;
  assign starts_set = reading_q && phase_q == 12'd0;
  assign read = reading_q && phase_q < 12'(own_nibbles_q);
  assign embed_read_o = read;
  assign embed_minimum_read_o = starts_set && has_minimum_q;
  always_ff @(posedge clk_i) begin
    exponent_read_o <= rst_ni && steps_q[6];
    if (steps_q[6]) begin
      embed_address_o <= memory_base_q + word_low_q + {word_high_q, 10'd0};
      embed_minimum_address_o <= minimum_address_q + minimum_low_q + {minimum_high_q, 10'd0};
      last_phase_q <= pitch_q - 12'd1;
      own_nibbles_q <= nibbles_q;
      {signed_code_q, signed_scale_q, has_minimum_q} <= flags_q;
      lane_q <= token_lane_q;
    end else begin
      if (read) embed_address_o <= embed_address_o + 24'd1;
      if (starts_set) embed_minimum_address_o <= embed_minimum_address_o + 24'd1;
    end
    if (!rst_ni) begin
      reading_q <= 1'b0;
    end else if (steps_q[6]) begin
      reading_q <= 1'b1;
      phase_q <= '0;
      sets_left_q <= sets_q - 16'd1;
    end else if (reading_q) begin
      phase_q <= (phase_q == last_phase_q) ? '0 : phase_q + 12'd1;
      if (phase_q == last_phase_q) begin
        sets_left_q <= sets_left_q - 16'd1;
        reading_q <= sets_left_q != 16'd0;
      end
    end
  end

  // The row's exponent: word in t + 3.
  logic exponent_s3;
  lpu_delay #(.Cycles(3), .HasReset(1'b1)) u_exponent (
    .clk_i, .rst_ni, .value_i(exponent_read_o), .value_o(exponent_s3)
  );
  always_ff @(posedge clk_i) begin
    if (exponent_s3) embed_row_exponent_o <= exponent_word_i[32'(lane_q)*8+:8];
  end

  // ---- one lane of each group: stage k is k cycles after a set's first read
  logic [7:1] first_s;   // word 0 of a set
  logic [4:1] any_s;     // any word
  always_ff @(posedge clk_i) begin
    first_s <= rst_ni ? {first_s[6:1], starts_set} : '0;
    any_s <= rst_ni ? {any_s[3:1], read} : '0;
  end

  logic [HighBits-1:0]                                  high;
  logic [LaneBits-1:0]                                  lane_low;  // within its group of LowLanes
  logic [ColumnGroups*HighLanes*WordBits-1:0]           words_s4_q;
  logic [ColumnGroups*HighLanes*MinimumBits-1:0]        minimums_s4_q;
  logic [ColumnGroups*WordBits-1:0]                     words_s5_q;
  logic [ColumnGroups*MinimumBits-1:0]                  minimums_s5_q;
  assign high = HighBits'(lane_q >> LowBits);
  assign lane_low = lane_q & LaneBits'(LowLanes - 1);
  // One of several words by the bits of its place: as a computed part select of 144 bits it would be a multiplier and a
  // shifter over all of them.
  function automatic logic [WordBits-1:0] picked(input logic [LowLanes*WordBits-1:0] words,
                                                 input logic [LowBits-1:0] place);
    logic [LowLanes*WordBits-1:0] rest;
    rest = words;
    for (int b = 0; b < LowBits; b++)
      if (place[b]) rest = rest >> (WordBits << b);
    picked = rest[WordBits-1:0];
  endfunction
  always_ff @(posedge clk_i) begin
    for (int g = 0; g < ColumnGroups; g++) begin
      for (int h = 0; h < HighLanes; h++) begin
        if (any_s[3]) begin
          words_s4_q[(g*HighLanes+h)*WordBits+:WordBits] <=
              picked(words_i[(g*Lanes+h*LowLanes)*WordBits+:LowLanes*WordBits], lane_low[LowBits-1:0]);
        end
        if (first_s[3]) begin
          minimums_s4_q[(g*HighLanes+h)*MinimumBits+:MinimumBits] <=
              minimums_i[(g*Lanes+h*LowLanes+32'(lane_low))*MinimumBits+:MinimumBits];
        end
      end
      if (any_s[4]) begin
        words_s5_q[g*WordBits+:WordBits] <=
            picked((LowLanes * WordBits)'(words_s4_q[g*HighLanes*WordBits+:HighLanes*WordBits]), LowBits'(high));
      end
      if (first_s[4]) begin
        minimums_s5_q[g*MinimumBits+:MinimumBits] <=
            minimums_s4_q[(g*HighLanes+32'(high))*MinimumBits+:MinimumBits];
      end
    end
  end

  // ---- a set's planes: plane 1 comes as the set is complete, plane 2 while its first slice is already picked
  logic [PlaneBits-1:0]              arrived, plane_0_s6_q, plane_0_q, plane_1_q, plane_2_q, plane_2;
  logic [ColumnGroups*SideBits-1:0]  sides, sides_s6_q, sides_q;
  logic [ColumnGroups*MinimumBits-1:0] minimums_s6_q, minimums_q;
  logic [SliceBits-1:0]              slice_q;
  always_comb begin
    for (int g = 0; g < ColumnGroups; g++) begin
      arrived[g*DataBits+:DataBits] = words_s5_q[g*WordBits+:DataBits];
      sides[g*SideBits+:SideBits] = words_s5_q[g*WordBits+DataBits+:SideBits];
    end
  end
  assign plane_2 = first_s[7] ? arrived : plane_2_q;
  always_ff @(posedge clk_i) begin
    if (first_s[5]) begin
      plane_0_s6_q <= arrived;
      sides_s6_q <= sides;
      minimums_s6_q <= minimums_s5_q;
    end
    if (first_s[6]) begin
      plane_0_q <= plane_0_s6_q;
      plane_1_q <= arrived;
      sides_q <= sides_s6_q;
      minimums_q <= minimums_s6_q;
    end
    if (first_s[7]) plane_2_q <= arrived;
    if (first_s[6]) slice_q <= '0;
    else if (slice_q != SliceBits'(Slices - 1)) slice_q <= slice_q + 1'b1;
  end

  // ---- a slice: codes, × scale, + minimum
  function automatic logic [CodeBits-1:0] code(input logic [3:0] nibble_0, input logic [3:0] nibble_1,
                                               input logic [3:0] nibble_2, input logic [1:0] nibbles,
                                               input logic is_signed);
    unique case (nibbles)
      2'd3: code = {is_signed && nibble_2[3], nibble_2, nibble_1, nibble_0};
      2'd2: code = {{5{is_signed && nibble_1[3]}}, nibble_1, nibble_0};
      default: code = {{9{is_signed && nibble_0[3]}}, nibble_0};
    endcase
  endfunction

  logic [VectorLanes*CodeBits-1:0]    codes_s8_q;
  logic [ScaleBits-1:0]               scale_s8_q;
  logic [MinimumBits-1:0]             minimum_s8_q;
  logic [VectorLanes*ProductBits-1:0] products_s9_q;
  logic [LowerBits-1:0]               lowered_s9_q;
  logic [VectorLanes*TermBits-1:0]    terms_s10_q;
  logic [31:0]                        block;
  logic [SideBits-1:0]                side;
  assign block = 32'(slice_q) / BlockSlices;
  assign side = sides_q[block*SideBits+:SideBits];
  always_ff @(posedge clk_i) begin
    scale_s8_q <= {signed_scale_q && side[SideBits-1], side};
    minimum_s8_q <= has_minimum_q ? minimums_q[block*MinimumBits+:MinimumBits] : '0;
    lowered_s9_q <= LowerBits'($signed(minimum_s8_q[lpu_pkg::MinimumMantissaBits-1:0]))
                    << minimum_s8_q[MinimumBits-1-:lpu_pkg::MinimumShiftBits];
    for (int l = 0; l < VectorLanes; l++) begin
      codes_s8_q[l*CodeBits+:CodeBits] <=
          code(plane_0_q[(32'(slice_q)*VectorLanes+l)*4+:4], plane_1_q[(32'(slice_q)*VectorLanes+l)*4+:4],
               plane_2[(32'(slice_q)*VectorLanes+l)*4+:4], own_nibbles_q, signed_code_q);
      products_s9_q[l*ProductBits+:ProductBits] <=
          ProductBits'($signed(codes_s8_q[l*CodeBits+:CodeBits])) * ProductBits'($signed(scale_s8_q));
      terms_s10_q[l*TermBits+:TermBits] <=
          TermBits'($signed({products_s9_q[l*ProductBits+:ProductBits], lpu_pkg::MinimumFractionBits'(0)})) +
          TermBits'($signed(lowered_s9_q));
    end
  end
  always_comb begin
    for (int l = 0; l < VectorLanes; l++)
      embed_sum_o[l*SumBits+:SumBits] = SumBits'($signed(terms_s10_q[l*TermBits+:TermBits]));
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && steps_q[0]) begin
      assert (nibbles_q != 2'd0) else $error("%m: a block of no words");
      assert (pitch_q >= 12'(nibbles_q) && 32'(pitch_q) >= Slices) else $error("%m: sets come too fast");
    end
    if (rst_ni && steps_q[6]) assert (!reading_q) else $error("%m: kEmbed begins inside another");
  end
`endif

  logic unused;
  assign unused = ^instruction_i;
endmodule
