// A matvec instruction to the record of its burst: adds the loop's strides, sets the counts that follow from the
// context's length (docs/isa.md, "MVU: matvec"), divides steps by the nibbles for the minimum memory. Three registers,
// one instruction a cycle; with the one of lpu_mvu_beats that is DecodeCycles from here to the first beat.
// Relies on a sequencer that hands instructions over early, and on fields that the host has checked.
module lpu_mvu_decode #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                valid_i,
  input  logic [lpu_pkg::InstructionBits-1:0] instruction_i,
  input  logic [15:0]                         iteration_i,     // of its loop
  input  logic [15:0]                         blocks_i,        // ⌈(position + 1)/32⌉, at least 1
  output logic                                valid_o,         // three cycles later
  output lpu_mvu_pkg::burst_t                 burst_o
);
  if (Lanes > 32 ? Lanes % 32 != 0 : 32 % Lanes != 0) begin : gen_check
    $error("lpu_mvu_decode: Lanes must divide 32 or be a multiple of 32");
  end

  // x/d for x below 2^16 and d of 1…256 is (x · ⌈2^24/d⌉) >> 24, exactly; x/3 for x below 2^20 is (x · 699051) >> 21.
  localparam int ReciprocalBits = 24;
  localparam int Thirds = 699051;
  localparam int LaneBlocks = (Lanes > 32) ? Lanes / 32 : 1;   // blocks of positions in a row group
  localparam int BlockRowGroups = (Lanes > 32) ? 1 : 32 / Lanes;

  function automatic logic [ReciprocalBits:0] part_reciprocal(input logic [8:0] segments);
    part_reciprocal = '0;
    for (int count = 1; count <= ColumnGroups; count++)
      if (ColumnGroups % count == 0 && segments == 9'(count))
        part_reciprocal = (ReciprocalBits + 1)'((2 ** ReciprocalBits + ColumnGroups / count - 1) /
                                                (ColumnGroups / count));
  endfunction
  function automatic logic [23:0] by_nibbles(input logic [19:0] words, input logic [1:0] nibbles);
    logic [39:0] thirds;
    thirds = 40'(words) * 40'(Thirds);
    by_nibbles = nibbles == 2'd3 ? 24'(thirds[39:21]) : nibbles == 2'd2 ? 24'(words[19:1]) : 24'(words);
  endfunction
  function automatic logic [15:0] divided(input logic [15:0] value, input logic [ReciprocalBits:0] reciprocal);
    logic [40:0] product;
    product = 41'(value) * 41'(reciprocal);
    divided = product[39:24];
  endfunction

  // ---- the instruction as it lies in the program memory
  logic valid_1, valid_2;
  logic [lpu_pkg::MatvecFinishLsb-1:0] fields_1, fields_2;   // `finish` is for schedules: sums can always be read
  logic [15:0] iteration_1, blocks_1;
  logic [ReciprocalBits:0] reciprocal_1;
  always_ff @(posedge clk_i) begin
    valid_1 <= valid_i && rst_ni;
    fields_1 <= instruction_i[lpu_pkg::MatvecFinishLsb-1:0];
    iteration_1 <= iteration_i;
    blocks_1 <= blocks_i - 16'd1;
    reciprocal_1 <= part_reciprocal(instruction_i[lpu_pkg::MatvecSegmentsLsb+:lpu_pkg::MatvecSegmentsWidth]);
  end

  // ---- products
  logic [23:0] weights_2, minimums_2, exponents_2, row_minimums_2, set_minimums_2;
  logic [15:0] last_row_group_2, last_set_2;
  always_ff @(posedge clk_i) begin
    valid_2 <= valid_1 && rst_ni;
    fields_2 <= fields_1;
    weights_2 <= fields_1[lpu_pkg::MatvecWeightStrideLsb+:24] * 24'(iteration_1);
    minimums_2 <= fields_1[lpu_pkg::MatvecMinimumStrideLsb+:24] * 24'(iteration_1);
    exponents_2 <= fields_1[lpu_pkg::MatvecExponentStrideLsb+:24] * 24'(iteration_1);
    row_minimums_2 <= by_nibbles(
        fields_1[lpu_pkg::MatvecRowGroupWordsLsb+:20], fields_1[lpu_pkg::MatvecNibblesLsb+:2]);
    set_minimums_2 <= by_nibbles(
        20'(fields_1[lpu_pkg::MatvecColumnSetWordsLsb+:8]), fields_1[lpu_pkg::MatvecNibblesLsb+:2]);
    last_row_group_2 <= fields_1[lpu_pkg::MatvecLengthDimensionLsb+:2] != 2'd1
        ? fields_1[lpu_pkg::MatvecRowGroupsLsb+:16] - 16'd1
        : divided(blocks_1, (ReciprocalBits + 1)'((2 ** ReciprocalBits + LaneBlocks - 1) / LaneBlocks)) *
          16'(BlockRowGroups) + 16'(BlockRowGroups - 1);
    last_set_2 <= fields_1[lpu_pkg::MatvecLengthDimensionLsb+:2] != 2'd2
        ? fields_1[lpu_pkg::MatvecColumnSetsLsb+:16] - 16'd1 : divided(blocks_1, reciprocal_1);
  end

  // ---- the record
  always_ff @(posedge clk_i) begin
    valid_o <= valid_2 && rst_ni;
    burst_o.weight_address <= fields_2[lpu_pkg::MatvecWeightAddressLsb+:24] + weights_2;
    burst_o.minimum_address <= fields_2[lpu_pkg::MatvecMinimumAddressLsb+:24] + minimums_2;
    burst_o.row_step <= 24'(fields_2[lpu_pkg::MatvecRowGroupWordsLsb+:20]);
    burst_o.set_step <= 24'(fields_2[lpu_pkg::MatvecColumnSetWordsLsb+:8]);
    burst_o.row_minimum_step <= row_minimums_2;
    burst_o.set_minimum_step <= set_minimums_2;
    burst_o.last_row_group <= last_row_group_2;
    burst_o.last_set <= last_set_2;
    burst_o.row_major <= fields_2[lpu_pkg::MatvecRowMajorLsb];
    burst_o.last_nibble <= fields_2[lpu_pkg::MatvecNibblesLsb+:2] - 2'd1;
    burst_o.signed_code <= fields_2[lpu_pkg::MatvecSignedCodeLsb];
    burst_o.signed_scale <= fields_2[lpu_pkg::MatvecSignedScaleLsb];
    burst_o.has_minimum <= fields_2[lpu_pkg::MatvecHasMinimumLsb];
    burst_o.unit_scale <= fields_2[lpu_pkg::MatvecUnitScaleLsb];
    burst_o.keeps_value_scale <= fields_2[lpu_pkg::MatvecKeepsValueScaleLsb];
    burst_o.relative_exponents <= fields_2[lpu_pkg::MatvecRelativeExponentsLsb];
    burst_o.round <= fields_2[lpu_pkg::MatvecRoundLsb+:6];
    burst_o.activation_address <= fields_2[lpu_pkg::MatvecActivationAddressLsb+:16];
    burst_o.segments <= fields_2[lpu_pkg::MatvecSegmentsLsb+:9];
    burst_o.accumulator <= fields_2[lpu_pkg::MatvecAccumulatorLsb+:12];
    burst_o.adds_residual <= fields_2[lpu_pkg::MatvecAddsResidualLsb];
    burst_o.residual_row <= fields_2[lpu_pkg::MatvecResidualRowLsb+:20];
    burst_o.exponent_address <= fields_2[lpu_pkg::MatvecExponentAddressLsb+:24] + exponents_2;
    burst_o.start <= fields_2[lpu_pkg::MatvecStartLsb];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (valid_i && rst_ni) begin
      assert (instruction_i[lpu_pkg::CommonOpcodeLsb+:4] == 4'(lpu_pkg::OpcodeMatvec))
      else $error("%m: opcode %0d isn't the MVU's", instruction_i[3:0]);
      assert (blocks_i != 16'd0) else $error("%m: a context of no blocks");
      assert (instruction_i[lpu_pkg::MatvecNibblesLsb+:2] != 2'd0) else $error("%m: a block of no words");
    end
`endif
endmodule
