// Vector instructions to entries (docs/isa.md, "VPU: entries"): which slice of rows enters in which cycle, what it reads
// and when, and where its results go. An instruction handed over IssueLeadCycles = 8 cycles before its issue cycle t goes
// through lpu_vector_decode (4 cycles to the walk, 6 to the places), lpu_vector_walk (3 cycles ahead of the entries) and
// lpu_vector_places (1 cycle ahead). Everything takes a fixed time, so instructions of one slice may follow one another
// in every cycle and nothing waits. docs/units/vector_issue.md has each port's cycle.
// Relies on the sequencer's times: an instruction begins at the earliest in the cycle after the last entry of the one
// before, else error_o; and on position_i being the token's before its first kQuery, kKey or kValue is handed over.
module lpu_vector_issue #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  parameter int AccumulatorEntries = 16,
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1,
  localparam int EntryBits = $clog2(AccumulatorEntries),
  localparam int Slices = Lanes / VectorLanes,
  localparam int SliceBits = (Slices > 1) ? $clog2(Slices) : 1,
  localparam int LaneBits = $clog2(Lanes)
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,

  // ---- the sequencer: an instruction in cycle t − 8
  input  logic                                vpu_valid_i,
  input  logic [lpu_pkg::InstructionBits-1:0] vpu_instruction_i,
  input  logic [15:0]                         vpu_iteration_i,
  input  logic [15:0]                         position_i,
  input  logic                                logits_start_i,    // a token starts
  output logic                                error_o,           // a pulse: an instruction began inside another

  // ---- a slice that enters in cycle e: requests in e − 3
  output logic                                exponent_read_o,
  output logic [23:0]                         exponent_address_o,
  output logic                                grid_read_o,
  output logic [23:0]                         grid_address_o,
  // ---- request in e − 2
  output logic [ColumnGroups-1:0]             accumulator_read_o,  // one segment
  output logic [EntryBits-1:0]                accumulator_entry_o,
  output logic [SliceBits-1:0]                accumulator_slice_o,
  // ---- e
  output logic                                entry_valid_o,
  output logic [3:0]                          entry_kind_o,
  output logic [VectorLanes-1:0]              entry_lanes_o,
  output logic [4:0]                          entry_slot_o,
  output logic                                entry_block_end_o,
  output logic                                entry_start_o,
  output logic                                entry_end_o,
  output logic                                entry_has_bias_o,
  output logic                                entry_wide_o,
  output logic [19:0]                         entry_row_o,
  output logic                                embed_select_o,    // the slice comes from the embedding
  output logic [SliceBits-1:0]                exponent_slice_o,  // which bytes of the exponent word
  output logic [LaneBits-1:0]                 grid_lane_o,       // which byte of the grid word
  output logic                                scale_register_o,
  output logic [5:0]                          round_o,
  output logic [GroupBits-1:0]                segment_o,
  output logic [GroupBits-1:0]                tag_bank_o,        // activation bank, or group of K or V
  output logic [23:0]                         tag_address_o,     // of the block, of K's word 0, of V's in row group 0
  output logic [1:0]                          tag_nibbles_o,
  output logic [19:0]                         tag_row_step_o,
  output logic [GroupBits-1:0]                tag_key_group_o,
  output logic [23:0]                         tag_key_address_o,
  output logic [3:0]                          tag_head_blocks_o,
  output logic [19:0]                         tag_residual_row_o,
  // ---- e + 1
  output logic                                gain_read_o,
  output logic [26:0]                         gain_address_o,
  // ---- e + 5
  output logic                                bias_read_o,
  output logic [26:0]                         bias_address_o,
  // ---- e + 5, with a bias e + 10
  output logic                                rope_read_o,
  output logic [25:0]                         rope_pair_o
);
  if (Lanes < 2 || Lanes > 64 || Lanes != 1 << $clog2(Lanes)) begin : gen_check_lanes
    $error("lpu_vector_issue: Lanes must be a power of two, 2 to 64");
  end
  if (VectorLanes < 2 || VectorLanes > lpu_pkg::BlockValues || Lanes % VectorLanes != 0) begin : gen_check_vector
    $error("lpu_vector_issue: VectorLanes must divide Lanes and be 2 to 32");
  end
  if (ColumnGroups < 1 || ColumnGroups > 256) begin : gen_check_groups
    $error("lpu_vector_issue: ColumnGroups must be 1 to 256");
  end
  if (AccumulatorEntries < 2 || AccumulatorEntries > 4096) begin : gen_check_entries
    $error("lpu_vector_issue: AccumulatorEntries must be 2 to 4096");
  end
  if (lpu_pkg::IssueLeadCycles !=
          lpu_vector_issue_pkg::WalkDecodeCycles + 1 + lpu_vector_issue_pkg::WalkLead ||
      lpu_pkg::IssueLeadCycles != lpu_vector_issue_pkg::PlaceDecodeCycles + 2) begin : gen_check_lead
    $error("lpu_vector_issue: stages disagree with IssueLeadCycles");
  end
  if (lpu_pkg::VectorRowsWidth != 20 || lpu_pkg::VectorFirstRowWidth != 20 || lpu_pkg::VectorPitchCyclesWidth != 12 ||
      lpu_pkg::VectorSliceCyclesWidth != 8 || lpu_pkg::VectorRowGroupsWidth != 16 ||
      lpu_pkg::VectorColumnSetsWidth != 16 || lpu_pkg::VectorSegmentsWidth != 9 ||
      lpu_pkg::VectorHeadBlocksWidth != 4 || lpu_pkg::VectorAccumulatorWidth != 12 ||
      lpu_pkg::VectorMemoryAddressWidth != 24 || lpu_pkg::VectorGainAddressWidth != 27 ||
      lpu_pkg::EmbedFetchCycles > 15) begin : gen_check_fields
    $error("lpu_vector_issue: lpu_vector_issue_pkg's records disagree with the instruction's fields");
  end

  // ---- decode, walk
  logic                         walk_valid;
  logic                         place_valid;
  lpu_vector_issue_pkg::walk_t  walk;
  lpu_vector_issue_pkg::place_t place;
  lpu_vector_issue_pkg::slice_t slice_3;  // the number: cycles before its entry
  lpu_vector_issue_pkg::slice_t slice_2;
  lpu_vector_issue_pkg::slice_t slice_1;
  logic                         overlaps;
  lpu_vector_decode #(.Lanes(Lanes), .ColumnGroups(ColumnGroups)) u_decode (
    .clk_i, .rst_ni, .valid_i(vpu_valid_i), .instruction_i(vpu_instruction_i), .iteration_i(vpu_iteration_i),
    .position_i, .walk_valid_o(walk_valid), .walk_o(walk), .place_valid_o(place_valid), .place_o(place)
  );
  lpu_vector_walk #(
    .Lanes(Lanes), .ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes), .AccumulatorEntries(AccumulatorEntries)
  ) u_walk (
    .clk_i, .rst_ni, .take_i(walk_valid), .walk_i(walk), .slice_o(slice_3), .exponent_read_o, .exponent_address_o,
    .grid_read_o, .grid_address_o, .inside_o(overlaps)
  );
  always_ff @(posedge clk_i) begin
    error_o <= rst_ni && overlaps;
    slice_2 <= slice_3;
    slice_1 <= slice_2;
    if (!rst_ni) begin
      slice_2.valid <= 1'b0;
      slice_1.valid <= 1'b0;
    end
  end

  // ---- e − 2: accumulators
  always_comb begin
    for (int j = 0; j < ColumnGroups; j++)
      accumulator_read_o[j] = slice_2.valid && slice_2.kind != 4'(lpu_pkg::OpcodeEmbed) && slice_2.segment == 9'(j);
  end
  assign accumulator_entry_o = slice_2.accumulator[EntryBits-1:0];
  assign accumulator_slice_o = slice_2.slice[SliceBits-1:0];

  // ---- e − 1 to e: places, lanes, the token's first logits
  logic [26:0] constant_address;
  logic [25:0] rope_pair;
  lpu_vector_places #(.ColumnGroups(ColumnGroups), .VectorLanes(VectorLanes)) u_places (
    .clk_i, .take_i(place_valid), .place_i(place), .slice_i(slice_1), .bank_o(tag_bank_o), .address_o(tag_address_o),
    .nibbles_o(tag_nibbles_o), .row_step_o(tag_row_step_o), .key_bank_o(tag_key_group_o),
    .key_address_o(tag_key_address_o), .head_blocks_o(tag_head_blocks_o), .constant_address_o(constant_address),
    .rope_pair_o(rope_pair)
  );

  logic is_logits_1;
  logic logits_first_q;
  assign is_logits_1 = slice_1.kind == 4'(lpu_pkg::OpcodeLogits);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || logits_start_i) logits_first_q <= 1'b1;
    else if (slice_1.valid && is_logits_1) logits_first_q <= 1'b0;

    entry_valid_o <= rst_ni && slice_1.valid;
    entry_kind_o <= slice_1.kind;
    for (int l = 0; l < VectorLanes; l++) entry_lanes_o[l] <= 6'(l) < slice_1.count;
    entry_slot_o <= slice_1.slot;
    entry_block_end_o <= slice_1.block_end;
    entry_start_o <= is_logits_1 ? logits_first_q : slice_1.starts;
    entry_end_o <= slice_1.ends;
    entry_has_bias_o <= slice_1.has_bias;
    entry_wide_o <= slice_1.wide;
    entry_row_o <= slice_1.row;
    embed_select_o <= slice_1.kind == 4'(lpu_pkg::OpcodeEmbed);
    exponent_slice_o <= slice_1.slice[SliceBits-1:0];
    grid_lane_o <= slice_1.grid_lane[LaneBits-1:0];
    scale_register_o <= slice_1.scale_register;
    round_o <= slice_1.round;
    segment_o <= slice_1.segment[GroupBits-1:0];
  end
  assign tag_residual_row_o = entry_row_o;

  // ---- after e: constants, when they are needed
  localparam int GainCycle = lpu_vector_issue_pkg::GainCycle;
  localparam int BiasCycle = lpu_vector_issue_pkg::BiasCycle;
  logic wants_gain;
  logic wants_rope;
  assign wants_gain = entry_valid_o && (entry_kind_o == 4'(lpu_pkg::OpcodeResidual) ||
                                        entry_kind_o == 4'(lpu_pkg::OpcodeEmbed));
  assign wants_rope = entry_valid_o && (entry_kind_o == 4'(lpu_pkg::OpcodeQuery) ||
                                        entry_kind_o == 4'(lpu_pkg::OpcodeKey));
  lpu_delay #(.Cycles(GainCycle), .HasReset(1'b1)) u_gain_read (
    .clk_i, .rst_ni, .value_i(wants_gain), .value_o(gain_read_o)
  );
  lpu_delay #(.Width(27), .Cycles(GainCycle)) u_gain_address (
    .clk_i, .rst_ni(1'b1), .value_i(constant_address), .value_o(gain_address_o)
  );
  lpu_delay #(.Cycles(BiasCycle), .HasReset(1'b1)) u_bias_read (
    .clk_i, .rst_ni, .value_i(entry_valid_o && entry_has_bias_o), .value_o(bias_read_o)
  );
  lpu_delay #(.Width(27), .Cycles(BiasCycle - GainCycle)) u_bias_address (
    .clk_i, .rst_ni(1'b1), .value_i(gain_address_o), .value_o(bias_address_o)
  );

  logic        rope_plain;
  logic        rope_biased;
  logic [25:0] pair_plain;
  logic [25:0] pair_biased;
  lpu_delay #(.Cycles(BiasCycle), .HasReset(1'b1)) u_rope_plain (
    .clk_i, .rst_ni, .value_i(wants_rope && !entry_has_bias_o), .value_o(rope_plain)
  );
  lpu_delay #(.Cycles(BiasCycle + lpu_pkg::BiasCycles), .HasReset(1'b1)) u_rope_biased (
    .clk_i, .rst_ni, .value_i(wants_rope && entry_has_bias_o), .value_o(rope_biased)
  );
  lpu_delay #(.Width(26), .Cycles(BiasCycle)) u_pair_plain (
    .clk_i, .rst_ni(1'b1), .value_i(rope_pair), .value_o(pair_plain)
  );
  lpu_delay #(.Width(26), .Cycles(lpu_pkg::BiasCycles)) u_pair_biased (
    .clk_i, .rst_ni(1'b1), .value_i(pair_plain), .value_o(pair_biased)
  );
  assign rope_read_o = rope_plain || rope_biased;
  assign rope_pair_o = rope_biased ? pair_biased : pair_plain;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni) begin
      assert (!(rope_plain && rope_biased)) else $error("%m: angles of rows with and without a bias meet");
      assert (!walk_valid || 13'(walk.accumulator) < 13'(AccumulatorEntries))
      else $error("%m: no accumulator %0d", walk.accumulator);
    end
`endif
endmodule
