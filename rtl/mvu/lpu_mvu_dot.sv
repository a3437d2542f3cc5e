// One column group: in every beat each lane multiplies 32 nibbles of its word by the 32 mantissas of the group's
// activation block; a block of 1 to 3 beats becomes ((d·s)·2^F + (t·m)·2^h)·2^o (docs/numbers.md §2, §4), exactly.
//
// Two lanes share a multiplier: their nibbles stand 19 bits apart in one factor, and 32 products fit the lower field.
// Nibbles are unsigned; a plane in two's complement is read as code + 8, and 8·t is taken off again (t: the block's sum
// of mantissas, which the minimum needs too). t is one number for all lanes, so t·m needs no multiplier: its multiples
// are made once, and each lane adds one of four for every two bits of m, a LUT a bit. A device has lanes for all its
// multipliers, and LUTs to spare.
// Stages are numbered as in lpu_mvu_pkg: words and block arrive in stage 3, the shifted term leaves in stage 15.
// Relies on the beats of a block following each other without a gap: scale and minimum are held from its first beat.
module lpu_mvu_dot #(
  parameter int Lanes = 4
) (
  input  logic                                             clk_i,
  input  logic                                             rst_ni,
  input  lpu_mvu_pkg::beat_t                               beat_i,          // stage 3, as all inputs
  input  logic [Lanes*lpu_mvu_pkg::WordBits-1:0]           words_i,         // per lane: 128 data bits, 16 side bits
  input  logic [Lanes*lpu_mvu_pkg::MinimumBits-1:0]        minimums_i,
  input  logic [lpu_mvu_pkg::BlockBits-1:0]                block_i,
  input  logic [lpu_mvu_pkg::BlockExponentBits-1:0]        row_exponent_i,  // E of the group's segment
  output logic [Lanes*lpu_mvu_pkg::LowBits-1:0]            low_o,           // stage 15: the lower 44 bits of each term
  output logic [Lanes*lpu_mvu_pkg::TermHighBits-1:0]       high_o           // … and the rest, signed
);
  if (Lanes < 2 || Lanes % 2 != 0) begin : gen_check
    $error("lpu_mvu_dot: Lanes must be even: two lanes share a multiplier");
  end
  if (lpu_pkg::MinimumMantissaBits != 12) begin : gen_check_digits
    $error("lpu_mvu_dot: a minimum's mantissa is multiplied as six digits of two bits");
  end

  localparam int Values = lpu_pkg::BlockValues;
  localparam int MantissaBits = lpu_pkg::MantissaBits;
  localparam int WordBits = lpu_mvu_pkg::WordBits;
  localparam int MinimumBits = lpu_mvu_pkg::MinimumBits;
  localparam int ScaleBits = lpu_pkg::ScaleBits;
  localparam int LowBits = lpu_mvu_pkg::LowBits;
  localparam int TermBits = lpu_mvu_pkg::TermBits;
  localparam int TermHighBits = lpu_mvu_pkg::TermHighBits;
  localparam int Pairs = Lanes / 2;
  localparam int FieldBits = 19;                          // |Σ nibble·mantissa| ≤ 32·15·511 < 2^18
  localparam int FactorBits = FieldBits + 4 + 1;          // two nibbles and a sign
  localparam int ProductBits = FieldBits + 4 + MantissaBits;
  localparam int Sum7Bits = ProductBits + 3;
  localparam int Sum8Bits = ProductBits + 5;
  localparam int PairSumBits = ProductBits + 5;           // of all 32: no wider than that of any 18
  localparam int BlockSumBits = MantissaBits + 5;
  localparam int DotBits = 27;                            // 12-bit unsigned codes: 4095·32·511 < 2^26
  localparam int MultipleBits = BlockSumBits + 2;         // 0 to 3 block sums
  localparam int TwoDigitsBits = MultipleBits + 2;
  localparam int Lowered10Bits = TwoDigitsBits + 4;
  localparam int Lowered11Bits = TwoDigitsBits + 8;
  localparam int LoweredBits = Lowered11Bits + 15;
  localparam int CoarseHighBits = TermBits + 24 - LowBits;

  // ---- stage 4: operands, at the multipliers
  logic [Lanes*ScaleBits-1:0]    scales_4;     // held from the block's first beat, as the minimums
  logic [Lanes*MinimumBits-1:0]  minimums_4;
  logic                          signed_scale_4;
  always_ff @(posedge clk_i) begin
    signed_scale_4 <= beat_i.signed_scale;
    if (beat_i.nibble == 2'd0) begin
      minimums_4 <= beat_i.has_minimum ? minimums_i : '0;
      for (int lane = 0; lane < Lanes; lane++)
        scales_4[lane*ScaleBits+:ScaleBits] <=
            beat_i.unit_scale ? ScaleBits'(1) : words_i[lane*WordBits+4*Values+:ScaleBits];
    end
  end

  // What a plane's end needs, from stage 4 to stage 9.
  logic [1:0] nibble_4, nibble_5, nibble_6, nibble_7, nibble_8, nibble_9;
  logic signed_top_4, signed_top_5, signed_top_6, signed_top_7, signed_top_8, signed_top_9;
  always_ff @(posedge clk_i) begin
    {nibble_4, signed_top_4} <= {beat_i.nibble, beat_i.signed_top};
    {nibble_5, signed_top_5} <= {nibble_4, signed_top_4};
    {nibble_6, signed_top_6} <= {nibble_5, signed_top_5};
    {nibble_7, signed_top_7} <= {nibble_6, signed_top_6};
    {nibble_8, signed_top_8} <= {nibble_7, signed_top_7};
    {nibble_9, signed_top_9} <= {nibble_8, signed_top_8};
  end

  // Minimums wait for the multiples of the block sum (stage 8), scales for the dot product (stage 11).
  logic [Lanes*MinimumBits-1:0]   minimums_8;
  logic [Lanes*ScaleBits:0]       scales_10;   // and whether they are signed
  lpu_ring_delay #(.Width(Lanes*MinimumBits), .Cycles(4)) u_minimums (
    .clk_i, .rst_ni, .value_i(minimums_4), .value_o(minimums_8)
  );
  lpu_ring_delay #(.Width(Lanes*ScaleBits+1), .Cycles(6)) u_scales (
    .clk_i, .rst_ni, .value_i({signed_scale_4, scales_4}), .value_o(scales_10)
  );

  // ---- the block's offset, or that it contributes nothing: stages 4 to 13
  logic [lpu_pkg::ExponentBits-1:0]          exponent_4;
  logic [lpu_mvu_pkg::BlockExponentBits:0]   depth_4;     // E − E_b, signed
  logic                                      relative_4;
  logic [5:0]                                offset_5;    // bit 5: the block is left out
  logic [5:0]                                offset_13;
  always_ff @(posedge clk_i) begin
    exponent_4 <= block_i[Values*MantissaBits+:lpu_pkg::ExponentBits];
    depth_4 <= {row_exponent_i[lpu_mvu_pkg::BlockExponentBits-1], row_exponent_i} -
               {block_i[lpu_mvu_pkg::BlockBits-1], block_i[Values*MantissaBits+:lpu_mvu_pkg::BlockExponentBits]};
    relative_4 <= beat_i.relative_exponents;
    // 31 − (E − E_b) is the complement of a difference of 0…31; any other means that the block is left out.
    offset_5 <= relative_4 ? {|depth_4[lpu_mvu_pkg::BlockExponentBits:5], ~depth_4[4:0]} : {1'b0, exponent_4};
  end
  lpu_ring_delay #(.Width(6), .Cycles(8)) u_offset (.clk_i, .rst_ni, .value_i(offset_5), .value_o(offset_13));
  logic [2:0] fine_14;

  function automatic logic signed [FactorBits-1:0] factor(input logic [3:0] high, input logic [3:0] low);
    factor = {1'b0, high, {FieldBits - 4{1'b0}}, low};
  endfunction
  // Σ of one plane from the two fields of a pair's sum: the upper one lacks 1 where the lower is negative.
  function automatic logic signed [DotBits-1:0] plane(input logic signed [PairSumBits-1:0] sum, input logic upper);
    plane = upper ? DotBits'($signed(sum[PairSumBits-1:FieldBits])) + DotBits'(sum[FieldBits-1])
                  : DotBits'($signed(sum[FieldBits-1:0]));
  endfunction
  // One of the four multiples, by a digit: in a LUT together with its addition.
  function automatic logic signed [MultipleBits-1:0] multiple(
    input logic [1:0] digit, input logic signed [MultipleBits-1:0] one, input logic signed [MultipleBits-1:0] two,
    input logic signed [MultipleBits-1:0] three
  );
    unique case (digit)
      2'd0: multiple = '0;
      2'd1: multiple = one;
      2'd2: multiple = two;
      2'd3: multiple = three;
    endcase
  endfunction
  // Two digits of a minimum onto what the digits below them have carried up, which is at most one block sum: so both
  // additions are narrow, and the lower two bits of each are final.
  function automatic logic [TwoDigitsBits-1:0] two_digits(
    input logic signed [BlockSumBits-1:0] carried, input logic signed [MultipleBits-1:0] lower,
    input logic signed [MultipleBits-1:0] upper
  );
    logic signed [MultipleBits-1:0] first;
    logic signed [MultipleBits-1:0] second;
    first = MultipleBits'(carried) + lower;
    second = (first >>> 2) + upper;
    two_digits = {second, first[1:0]};
  endfunction

  // Register arrays: blocking assignments in reverse order of the stages, read nowhere else.
  logic [31:0]                         nibbles_4[Lanes*4];       // unsigned: a plane in two's complement as code + 8
  logic signed [MantissaBits-1:0]      mantissa_4[Values];
  logic signed [ProductBits-1:0]       product_5[Pairs*32];
  logic signed [ProductBits:0]         sum_6[Pairs*16];
  logic signed [Sum7Bits-1:0]          sum_7[Pairs*6];
  logic signed [Sum8Bits-1:0]          sum_8[Pairs*2];
  logic signed [PairSumBits-1:0]       sum_9[Pairs];
  logic signed [MantissaBits:0]        block_sum_5[16];
  logic signed [MantissaBits+2:0]      block_sum_6[4];
  logic signed [BlockSumBits-1:0]      block_sum_7;
  logic signed [MultipleBits-1:0]      block_sum_8;              // from here on multiples: t, 3t, −t
  logic signed [MultipleBits-1:0]      block_sum_9;
  logic signed [MultipleBits-1:0]      block_sum_10;
  logic signed [MultipleBits-1:0]      triple_8;
  logic signed [MultipleBits-1:0]      triple_9;
  logic signed [MultipleBits-1:0]      triple_10;
  logic signed [MultipleBits-1:0]      negative_10;
  logic signed [DotBits-1:0]           dot_10[Lanes];
  logic signed [DotBits-1:0]           dot_11[Lanes];
  logic signed [ScaleBits:0]           scale_11[Lanes];
  logic signed [DotBits+ScaleBits-1:0] scaled_12[Lanes];
  logic signed [TwoDigitsBits-1:0]     lowered_9[Lanes];
  logic signed [Lowered10Bits-1:0]     lowered_10[Lanes];
  logic signed [Lowered11Bits-1:0]     lowered_11[Lanes];
  logic signed [LoweredBits-1:0]       lowered_12[Lanes];
  logic [MinimumBits-5:0]              minimum_9[Lanes];         // digits that are still to come, and the shift
  logic [MinimumBits-9:0]              minimum_10[Lanes];
  logic [3:0]                          shift_11[Lanes];
  logic signed [TermBits-1:0]          term_13[Lanes];
  logic signed [CoarseHighBits-1:0]    high_14[Lanes];
  logic [LowBits-1:0]                  low_14[Lanes];
  logic signed [DotBits-1:0]           correction;   // 8·t of a plane in two's complement
  logic [5:0]                          coarse;
  logic [5:0]                          fine;
  assign coarse = {1'b0, offset_13[4:3], 3'b0};
  assign fine = {3'b0, fine_14};

  always_ff @(posedge clk_i) begin
    fine_14 <= offset_13[2:0];
    for (int lane = 0; lane < Lanes; lane++) begin
      // stages 15, 14: left by the offset, in steps of 1 and of 8
      low_o[lane*LowBits+:LowBits] <= low_14[lane] << fine;
      high_o[lane*TermHighBits+:TermHighBits] <=
          (TermHighBits'(high_14[lane]) << fine) | TermHighBits'(low_14[lane] >> (6'(LowBits) - fine));
      low_14[lane] = offset_13[5] ? LowBits'(0) : LowBits'(term_13[lane]) << coarse;
      high_14[lane] = offset_13[5] ? CoarseHighBits'(0) : CoarseHighBits'(term_13[lane] >>> (6'(LowBits) - coarse));
      // stages 13, 12, 11: d·s, and the minimum's product onto it
      term_13[lane] = (TermBits'(scaled_12[lane]) <<< lpu_pkg::MinimumFractionBits) + TermBits'(lowered_12[lane]);
      scaled_12[lane] = dot_11[lane] * scale_11[lane];
      dot_11[lane] = dot_10[lane];
      scale_11[lane] = {scales_10[Lanes*ScaleBits] & scales_10[lane*ScaleBits+ScaleBits-1],
                        scales_10[lane*ScaleBits+:ScaleBits]};
      // stages 12 to 9: the minimum shifted; its digits, the uppermost of them signed
      lowered_12[lane] = LoweredBits'(lowered_11[lane]) <<< shift_11[lane];
      lowered_11[lane] = {two_digits(lowered_10[lane][Lowered10Bits-1:8],
                                     multiple(minimum_10[lane][1:0], block_sum_10, block_sum_10 <<< 1, triple_10),
                                     multiple(minimum_10[lane][3:2], block_sum_10, negative_10 <<< 1, negative_10)),
                          lowered_10[lane][7:0]};
      shift_11[lane] = minimum_10[lane][7:4];
      lowered_10[lane] = {two_digits(lowered_9[lane][TwoDigitsBits-1:4],
                                     multiple(minimum_9[lane][1:0], block_sum_9, block_sum_9 <<< 1, triple_9),
                                     multiple(minimum_9[lane][3:2], block_sum_9, block_sum_9 <<< 1, triple_9)),
                          lowered_9[lane][3:0]};
      minimum_10[lane] = minimum_9[lane][11:4];
      lowered_9[lane] = two_digits('0,
          multiple(minimums_8[lane*MinimumBits+:2], block_sum_8, block_sum_8 <<< 1, triple_8),
          multiple(minimums_8[lane*MinimumBits+2+:2], block_sum_8, block_sum_8 <<< 1, triple_8));
      minimum_9[lane] = minimums_8[lane*MinimumBits+4+:12];
    end
    // stage 10: a plane joins the planes below it
    correction = signed_top_9 ? DotBits'(block_sum_9) <<< 3 : DotBits'(0);
    for (int lane = 0; lane < Lanes; lane++)
      dot_10[lane] = (nibble_9 == 2'd0 ? DotBits'(0) : dot_10[lane]) +
                     ((plane(sum_9[lane/2], lane % 2 == 1) - correction) <<< {nibble_9, 2'b0});
    // stages 10 to 5: the block's sum, two levels of its tree in a stage, and its multiples
    negative_10 = -block_sum_9;
    block_sum_10 = block_sum_9;
    triple_10 = triple_9;
    block_sum_9 = block_sum_8;
    triple_9 = triple_8;
    block_sum_8 = MultipleBits'(block_sum_7);
    triple_8 = (MultipleBits'(block_sum_7) <<< 1) + MultipleBits'(block_sum_7);
    block_sum_7 = (BlockSumBits'(block_sum_6[0]) + BlockSumBits'(block_sum_6[1])) +
                  (BlockSumBits'(block_sum_6[2]) + BlockSumBits'(block_sum_6[3]));
    for (int i = 0; i < 4; i++)
      block_sum_6[i] =
          ((MantissaBits + 3)'(block_sum_5[4*i]) + (MantissaBits + 3)'(block_sum_5[4*i+1])) +
          ((MantissaBits + 3)'(block_sum_5[4*i+2]) + (MantissaBits + 3)'(block_sum_5[4*i+3]));
    for (int i = 0; i < 16; i++)
      block_sum_5[i] = (MantissaBits + 1)'(mantissa_4[2*i]) + (MantissaBits + 1)'(mantissa_4[2*i+1]);
    // stages 9 to 6: 32 products of a pair of lanes by a cascade of two, then by threes: 16, 6, 2, 1
    for (int pair = 0; pair < Pairs; pair++) begin
      sum_9[pair] = sum_8[2*pair] + sum_8[2*pair+1];
      for (int i = 0; i < 2; i++)
        sum_8[2*pair+i] = Sum8Bits'(sum_7[6*pair+3*i]) + Sum8Bits'(sum_7[6*pair+3*i+1]) +
                          Sum8Bits'(sum_7[6*pair+3*i+2]);
      for (int i = 0; i < 5; i++)
        sum_7[6*pair+i] = Sum7Bits'(sum_6[16*pair+3*i]) + Sum7Bits'(sum_6[16*pair+3*i+1]) +
                          Sum7Bits'(sum_6[16*pair+3*i+2]);
      sum_7[6*pair+5] = Sum7Bits'(sum_6[16*pair+15]);
      for (int half = 0; half < 2; half++)
        for (int i = 0; i < 8; i++)
          sum_6[16*pair+8*half+i] = product_5[32*pair+16*half+2*i] + product_5[32*pair+16*half+2*i+1];
      // stage 5: one multiplier for two lanes
      for (int quarter = 0; quarter < 4; quarter++)
        for (int i = 0; i < 8; i++)
          product_5[32*pair+8*quarter+i] =
              factor(nibbles_4[8*pair+4+quarter][4*i+:4], nibbles_4[8*pair+quarter][4*i+:4]) * mantissa_4[8*quarter+i];
    end
    // stage 4
    for (int lane = 0; lane < Lanes; lane++)
      for (int quarter = 0; quarter < 4; quarter++)
        nibbles_4[4*lane+quarter] = words_i[lane*WordBits+32*quarter+:32] ^ {8{beat_i.signed_top, 3'b0}};
    for (int i = 0; i < Values; i++) mantissa_4[i] = block_i[i*MantissaBits+:MantissaBits];
  end
endmodule
