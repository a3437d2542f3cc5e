// The slices of a vector instruction, one a cycle at most (docs/isa.md, "VPU: entries"): segments × row groups ×
// slices, a row group every `pitch` cycles, a slice every `slice_cycles`; kEmbed: column sets of 32·ColumnGroups values,
// EmbedFetchCycles late. A record taken in cycle t − WalkLead − 1 has its first slice on the outputs in t − WalkLead;
// the requests for row exponents and static grids go out in that cycle. All places are counters.
// Relies on a record being taken at the earliest in the cycle of the last slice of the one before: inside_o tells when
// that is broken (the new one is walked then).
module lpu_vector_walk #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  parameter int AccumulatorEntries = 16
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         take_i,
  input  lpu_vector_issue_pkg::walk_t  walk_i,
  output lpu_vector_issue_pkg::slice_t slice_o,
  output logic                         exponent_read_o,
  output logic [23:0]                  exponent_address_o,
  output logic                         grid_read_o,
  output logic [23:0]                  grid_address_o,
  output logic                         inside_o
);
  localparam int RowGroupSlices = Lanes / VectorLanes;
  localparam int SetSlices = lpu_pkg::BlockValues * ColumnGroups / VectorLanes;
  localparam int BlockSlices = lpu_pkg::BlockValues / VectorLanes;

  logic active_q;
  lpu_vector_issue_pkg::walk_t walk_q;
  logic [3:0]  wait_q;                       // cycles until the first slice
  logic [11:0] pitch_q;                      // cycles left in this row group, this one included
  logic [7:0]  gap_q;                        // cycles until the next slice
  logic        done_q;                       // the row group's last slice is over
  logic [12:0] slice_q;
  logic [15:0] row_group_q;
  logic [8:0]  segment_q;
  logic [19:0] remaining_q;                  // rows of this segment that haven't entered
  logic [19:0] row_q;
  logic [4:0]  slot_q;
  logic [7:0]  head_block_q;
  logic        first_q;                      // no slice has entered
  logic [11:0] entry_q;
  logic [23:0] exponent_address_q, grid_address_q;
  logic [5:0]  grid_lane_q;

  logic is_embed, is_residual, is_key, is_value, is_mix, is_swiglu, is_logits;
  assign is_embed = walk_q.kind == 4'(lpu_pkg::OpcodeEmbed);
  assign is_residual = walk_q.kind == 4'(lpu_pkg::OpcodeResidual);
  assign is_key = walk_q.kind == 4'(lpu_pkg::OpcodeKey);
  assign is_value = walk_q.kind == 4'(lpu_pkg::OpcodeValue);
  assign is_mix = walk_q.kind == 4'(lpu_pkg::OpcodeMix);
  assign is_swiglu = walk_q.kind == 4'(lpu_pkg::OpcodeSwiglu);
  assign is_logits = walk_q.kind == 4'(lpu_pkg::OpcodeLogits);

  // ---- time
  logic emits, last_slice, last_row_group, last_segment, row_group_ends, ends;
  assign emits = active_q && wait_q == '0 && gap_q == '0 && !done_q;
  assign last_slice = slice_q == (is_embed ? 13'(SetSlices - 1) : 13'(RowGroupSlices - 1));
  assign last_row_group = row_group_q == walk_q.last_row_group;
  assign last_segment = segment_q == walk_q.last_segment;
  assign row_group_ends = active_q && wait_q == '0 && pitch_q == 12'd1;
  // kEmbed keeps the unit for the whole pitch of its last set.
  assign ends = last_row_group && last_segment && (is_embed ? row_group_ends : emits && last_slice);
  assign inside_o = take_i && active_q && !ends;

  // ---- rows
  logic present, last_rows, last_slot, block_end, head_end, segment_ends;
  assign present = emits && remaining_q != '0;             // rows that aren't there are no entries
  assign last_rows = remaining_q <= 20'(VectorLanes);
  assign last_slot = slot_q == (is_swiglu ? 5'(2 * BlockSlices - 1) : 5'(BlockSlices - 1));
  assign block_end = last_slot || last_rows;
  assign head_end = last_slot && head_block_q == walk_q.last_head_block;
  assign segment_ends = row_group_ends && last_row_group;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (take_i) active_q <= 1'b1;
    else if (ends) active_q <= 1'b0;

    if (take_i) begin
      walk_q <= walk_i;
      wait_q <= (walk_i.kind == 4'(lpu_pkg::OpcodeEmbed)) ? 4'(lpu_pkg::EmbedFetchCycles) : 4'd0;
      pitch_q <= walk_i.pitch;
      {gap_q, done_q, slice_q, row_group_q, segment_q, slot_q} <= '0;
      remaining_q <= walk_i.rows;
      row_q <= walk_i.first_row;
      head_block_q <= walk_i.head_block;
      first_q <= 1'b1;
      entry_q <= walk_i.accumulator;
      exponent_address_q <= walk_i.exponent_address;
      grid_address_q <= walk_i.grid_address;
      grid_lane_q <= walk_i.grid_lane;
    end else if (wait_q != '0) begin
      wait_q <= wait_q - 4'd1;
    end else if (active_q) begin
      pitch_q <= row_group_ends ? walk_q.pitch : pitch_q - 12'd1;
      if (row_group_ends) begin
        {gap_q, done_q, slice_q} <= '0;
        row_group_q <= last_row_group ? '0 : row_group_q + 16'd1;
        exponent_address_q <= exponent_address_q + 24'd1;
        if (last_row_group) entry_q <= walk_q.accumulator;
        else entry_q <= (entry_q == 12'(AccumulatorEntries - 1)) ? '0 : entry_q + 12'd1;
      end else if (emits) begin
        done_q <= last_slice;
        slice_q <= slice_q + 13'd1;
        gap_q <= walk_q.slice_cycles - 8'd1;
      end else if (gap_q != '0) begin
        gap_q <= gap_q - 8'd1;
      end

      if (segment_ends) segment_q <= segment_q + 9'd1;
      if (segment_ends) remaining_q <= walk_q.rows;
      else if (present) remaining_q <= last_rows ? '0 : remaining_q - 20'(VectorLanes);
      if (present) begin
        first_q <= 1'b0;
        row_q <= row_q + 20'(VectorLanes);
        slot_q <= last_slot ? '0 : slot_q + 5'd1;
        if (last_slot) head_block_q <= head_end ? '0 : head_block_q + 8'd1;
      end
      // One grid a head; kMix: a segment has one head's rows.
      if (is_mix ? segment_ends : present && head_end) begin
        grid_lane_q <= (grid_lane_q == 6'(Lanes - 1)) ? '0 : grid_lane_q + 6'd1;
        if (grid_lane_q == 6'(Lanes - 1)) grid_address_q <= grid_address_q + 24'd1;
      end
    end
  end

  assign exponent_read_o = present && !is_embed && !is_mix;
  assign exponent_address_o = exponent_address_q;
  assign grid_read_o = present && (is_key || is_value || is_mix);
  assign grid_address_o = grid_address_q;

  always_comb begin
    slice_o.valid = present;
    slice_o.kind = walk_q.kind;
    slice_o.segment = segment_q;
    slice_o.accumulator = entry_q;
    slice_o.slice = slice_q[4:0];
    slice_o.count = last_rows ? remaining_q[5:0] : 6'(VectorLanes);
    slice_o.row = row_q;
    slice_o.slot = slot_q;
    slice_o.head_block = head_block_q[2:0];
    slice_o.block_end = block_end;
    slice_o.head_end = head_end;
    slice_o.starts = is_value ? slot_q == '0 && head_block_q == '0
                              : (is_residual || is_embed) && walk_q.starts_norm && first_q;
    slice_o.ends = is_value ? head_end : is_logits ? last_rows
                            : (is_residual || is_embed) && walk_q.ends_norm && last_rows;
    slice_o.has_bias = walk_q.has_bias;
    slice_o.wide = walk_q.wide;
    slice_o.grid_lane = grid_lane_q;
    slice_o.scale_register = walk_q.scale_register;
    slice_o.round = walk_q.round;
  end
endmodule
