// From the block terms of all column groups to exact sums: adds over the groups of each segment, then into the
// segment's accumulators. S segments, S any divisor of ColumnGroups up to lpu_pkg::MaxSegments: segment j takes groups
// j·P to j·P + P − 1, P = ColumnGroups/S. Accumulators exist for the largest such S, since they are what takes most of
// a large array's logic; ports have a place for each group, and those of no segment are zero.
// Two stages of additions by threes hold up to nine groups; more make the adders longer.
// Stages are numbered as in lpu_mvu_pkg. Relies on `segments` being a divisor (an assertion watches).
module lpu_mvu_sum #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int AccumulatorEntries = 16,
  parameter int VectorLanes = 2,
  parameter int SoftmaxLanes = 2,
  localparam int Segments = lpu_mvu_pkg::most_segments(ColumnGroups),
  localparam int LowBits = lpu_mvu_pkg::LowBits,
  localparam int HighBits = lpu_mvu_pkg::HighBits,
  localparam int AccumulatorBits = LowBits + HighBits,
  localparam int TermHighBits = lpu_mvu_pkg::TermHighBits,
  localparam int ScaleBits = lpu_pkg::ScaleBits,
  localparam int EntryBits = $clog2(AccumulatorEntries),
  localparam int VectorSliceBits = (Lanes > VectorLanes) ? $clog2(Lanes / VectorLanes) : 1,
  localparam int SoftmaxSliceBits = (Lanes > SoftmaxLanes) ? $clog2(Lanes / SoftmaxLanes) : 1
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  lpu_mvu_pkg::beat_t                         beat_i,            // stage 14
  input  logic [ColumnGroups*Lanes*LowBits-1:0]      lows_i,            // stage 15: [group][lane]
  input  logic [ColumnGroups*Lanes*TermHighBits-1:0] highs_i,
  input  logic [Lanes*LowBits-1:0]                   aligned_low_i,     // stage 17: the residual, of segment 0
  input  logic [Lanes*HighBits-1:0]                  aligned_high_i,
  input  logic [Segments*Lanes*ScaleBits-1:0]        value_scales_i,    // stage 19: [segment][lane]
  // Requests: two cycles before their answers, one segment each.
  input  logic [ColumnGroups-1:0]                    vector_read_i,     // one-hot segment
  input  logic [EntryBits-1:0]                       vector_entry_i,
  input  logic [VectorSliceBits-1:0]                 vector_slice_i,
  output logic [VectorLanes*AccumulatorBits-1:0]     vector_sums_o,
  input  logic [ColumnGroups-1:0]                    softmax_read_i,    // one-hot segment
  input  logic [EntryBits-1:0]                       softmax_entry_i,
  input  logic [SoftmaxSliceBits-1:0]                softmax_slice_i,
  output logic [SoftmaxLanes*AccumulatorBits-1:0]    softmax_sums_o,
  output logic [SoftmaxLanes*ScaleBits-1:0]          softmax_scales_o,
  // for lockstep: sums that can be read from the next cycle on
  output logic [ColumnGroups-1:0]                    sum_write_o,       // by segment
  output logic [EntryBits-1:0]                       sum_entry_o,
  output logic [ColumnGroups*Lanes*AccumulatorBits-1:0] sums_o          // [segment][lower, upper half][lane]
);
  localparam int Chunks = 3;
  localparam int ChunkGroups = (ColumnGroups + Chunks - 1) / Chunks;
  localparam int CarryBits = $clog2(ColumnGroups + 1);
  localparam int LowSumBits = LowBits + CarryBits;

  // ---- stage 15: who belongs to whom
  lpu_mvu_pkg::beat_t beat_15;
  logic ends_15;
  logic [Segments-1:0] used_15;                    // by segment
  logic [Segments*ColumnGroups-1:0] member_15;     // [segment][group]
  logic [Segments-1:0] used_14;
  logic [Segments*ColumnGroups-1:0] member_14;
  always_comb begin
    used_14 = '0;
    member_14 = '0;
    for (int count = 1; count <= Segments; count++)
      if (ColumnGroups % count == 0 && beat_i.segments == 9'(count))
        for (int group = 0; group < ColumnGroups; group++) begin
          used_14[group/(ColumnGroups/count)] = 1'b1;
          member_14[group/(ColumnGroups/count)*ColumnGroups+group] = 1'b1;
        end
  end
  always_ff @(posedge clk_i) begin
    beat_15 <= beat_i;
    ends_15 <= beat_i.valid && beat_i.last_nibble && rst_ni;
    used_15 <= used_14;
    member_15 <= member_14;
  end
  logic [Segments-1:0] adds_15;
  logic [Segments-1:0] adds_16;
  assign adds_15 = used_15 & {Segments{ends_15}};
  always_ff @(posedge clk_i) adds_16 <= adds_15;

  // ---- stages 16 and 17. Register arrays: blocking assignments in reverse order of the stages, read nowhere else.
  logic [LowSumBits-1:0] low_16[Segments*Lanes*Chunks];    // [segment][lane][chunk]
  logic [HighBits-1:0] high_16[Segments*Lanes*Chunks];
  logic [Segments*Lanes*LowSumBits-1:0] low_sums_17;
  logic [Segments*Lanes*HighBits-1:0] high_sums_17;
  always_ff @(posedge clk_i) begin
    for (int segment = 0; segment < Segments; segment++) begin
      if (adds_16[segment])
        for (int lane = 0; lane < Lanes; lane++) begin
          low_sums_17[(segment*Lanes+lane)*LowSumBits+:LowSumBits] <=
              low_16[(segment*Lanes+lane)*Chunks] + low_16[(segment*Lanes+lane)*Chunks+1] +
              low_16[(segment*Lanes+lane)*Chunks+2];
          high_sums_17[(segment*Lanes+lane)*HighBits+:HighBits] <=
              high_16[(segment*Lanes+lane)*Chunks] + high_16[(segment*Lanes+lane)*Chunks+1] +
              high_16[(segment*Lanes+lane)*Chunks+2];
        end
      if (adds_15[segment])
        for (int lane = 0; lane < Lanes; lane++)
          for (int chunk = 0; chunk < Chunks; chunk++) begin
            low_16[(segment*Lanes+lane)*Chunks+chunk] = '0;
            high_16[(segment*Lanes+lane)*Chunks+chunk] = '0;
            for (int group = chunk * ChunkGroups; group < (chunk + 1) * ChunkGroups; group++)
              if (group < ColumnGroups)
                if (member_15[segment*ColumnGroups+group]) begin
                  low_16[(segment*Lanes+lane)*Chunks+chunk] = low_16[(segment*Lanes+lane)*Chunks+chunk] +
                      LowSumBits'(lows_i[(group*Lanes+lane)*LowBits+:LowBits]);
                  high_16[(segment*Lanes+lane)*Chunks+chunk] = high_16[(segment*Lanes+lane)*Chunks+chunk] +
                      HighBits'($signed(highs_i[(group*Lanes+lane)*TermHighBits+:TermHighBits]));
                end
          end
    end
  end

  // ---- the accumulators, segment by segment; only segment 0 may start at the residual
  logic [Segments*VectorLanes*AccumulatorBits-1:0] vector_sums;
  logic [Segments*SoftmaxLanes*AccumulatorBits-1:0] softmax_sums;
  logic [Segments*SoftmaxLanes*ScaleBits-1:0] softmax_scales;
  logic [Segments*EntryBits-1:0] sum_entries;
  for (genvar segment = 0; segment < Segments; segment++) begin : gen_segment
    lpu_mvu_accumulate #(
      .Lanes(Lanes), .CarryBits(CarryBits), .Entries(AccumulatorEntries), .VectorLanes(VectorLanes),
      .SoftmaxLanes(SoftmaxLanes)
    ) u_accumulate (
      .clk_i,
      .rst_ni,
      .adds_i(adds_15[segment]),
      .beat_i(beat_15),
      .low_sums_i(low_sums_17[segment*Lanes*LowSumBits+:Lanes*LowSumBits]),
      .high_sums_i(high_sums_17[segment*Lanes*HighBits+:Lanes*HighBits]),
      .aligned_low_i(segment == 0 ? aligned_low_i : '0),
      .aligned_high_i(segment == 0 ? aligned_high_i : '0),
      .value_scales_i(value_scales_i[segment*Lanes*ScaleBits+:Lanes*ScaleBits]),
      .vector_read_i(vector_read_i[segment]),
      .vector_entry_i,
      .vector_slice_i,
      .vector_sums_o(vector_sums[segment*VectorLanes*AccumulatorBits+:VectorLanes*AccumulatorBits]),
      .softmax_read_i(softmax_read_i[segment]),
      .softmax_entry_i,
      .softmax_slice_i,
      .softmax_sums_o(softmax_sums[segment*SoftmaxLanes*AccumulatorBits+:SoftmaxLanes*AccumulatorBits]),
      .softmax_scales_o(softmax_scales[segment*SoftmaxLanes*ScaleBits+:SoftmaxLanes*ScaleBits]),
      .sum_write_o(sum_write_o[segment]),
      .sum_entry_o(sum_entries[segment*EntryBits+:EntryBits]),
      .sums_o(sums_o[segment*Lanes*AccumulatorBits+:Lanes*AccumulatorBits])
    );
  end
  assign sum_entry_o = sum_entries[EntryBits-1:0];  // all segments' beats are the same
  for (genvar place = Segments; place < ColumnGroups; place++) begin : gen_no_segment
    assign sum_write_o[place] = 1'b0;
    assign sums_o[place*Lanes*AccumulatorBits+:Lanes*AccumulatorBits] = '0;
  end
  if (ColumnGroups > Segments) begin : gen_unused
    logic unused_read;
    assign unused_read = (vector_read_i[ColumnGroups-1:Segments] | softmax_read_i[ColumnGroups-1:Segments]) != '0;
  end
  always_comb begin
    vector_sums_o = '0;
    softmax_sums_o = '0;
    softmax_scales_o = '0;
    for (int segment = 0; segment < Segments; segment++) begin
      vector_sums_o |= vector_sums[segment*VectorLanes*AccumulatorBits+:VectorLanes*AccumulatorBits];
      softmax_sums_o |= softmax_sums[segment*SoftmaxLanes*AccumulatorBits+:SoftmaxLanes*AccumulatorBits];
      softmax_scales_o |= softmax_scales[segment*SoftmaxLanes*ScaleBits+:SoftmaxLanes*ScaleBits];
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni && beat_i.valid) begin
      assert (used_14 != '0)
      else $error("%m: %0d segments don't divide the column groups, or are too many", beat_i.segments);
      assert (!(beat_i.adds_residual && beat_i.segments != 9'd1))
      else $error("%m: sums of several segments can't start at the residual");
      assert ({1'b0, beat_i.entry} < 13'(AccumulatorEntries)) else $error("%m: entry %0d doesn't exist", beat_i.entry);
    end
`endif
endmodule
