// The accumulators of one segment: each lane's exact 88-bit sums, one per entry, and V's scales beside them.
// A sum is added to in two halves of 44 bits, the upper one a cycle behind the lower, so that beats on one entry may
// follow each other in every cycle: an older sum that is still on its way into the memory is forwarded.
// Stages are numbered as in lpu_mvu_pkg; beat_i and the numbers come at the stages that their comments say.
// Relies on one block end a cycle; the sum is in the memory, and readable, in stage 20.
module lpu_mvu_accumulate #(
  parameter int Lanes = 4,
  parameter int CarryBits = 2,      // bits that sums of lower halves have above LowBits
  parameter int Entries = 16,
  parameter int VectorLanes = 2,
  parameter int SoftmaxLanes = 2,
  localparam int LowBits = lpu_mvu_pkg::LowBits,
  localparam int HighBits = lpu_mvu_pkg::HighBits,
  localparam int AccumulatorBits = LowBits + HighBits,
  localparam int ScaleBits = lpu_pkg::ScaleBits,
  localparam int EntryBits = $clog2(Entries),
  localparam int VectorSliceBits = (Lanes > VectorLanes) ? $clog2(Lanes / VectorLanes) : 1,
  localparam int SoftmaxSliceBits = (Lanes > SoftmaxLanes) ? $clog2(Lanes / SoftmaxLanes) : 1
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  input  logic                                    adds_i,          // stage 15: a block of this segment ends
  input  lpu_mvu_pkg::beat_t                      beat_i,          // stage 15
  input  logic [Lanes*(LowBits+CarryBits)-1:0]    low_sums_i,      // stage 17, unsigned
  input  logic [Lanes*HighBits-1:0]               high_sums_i,     // stage 17
  input  logic [Lanes*LowBits-1:0]                aligned_low_i,   // stage 17: the residual, aligned
  input  logic [Lanes*HighBits-1:0]               aligned_high_i,
  input  logic [Lanes*ScaleBits-1:0]              value_scales_i,  // stage 19
  input  logic                                    vector_read_i,
  input  logic [EntryBits-1:0]                    vector_entry_i,
  input  logic [VectorSliceBits-1:0]              vector_slice_i,
  output logic [VectorLanes*AccumulatorBits-1:0]  vector_sums_o,
  input  logic                                    softmax_read_i,
  input  logic [EntryBits-1:0]                    softmax_entry_i,
  input  logic [SoftmaxSliceBits-1:0]             softmax_slice_i,
  output logic [SoftmaxLanes*AccumulatorBits-1:0] softmax_sums_o,
  output logic [SoftmaxLanes*ScaleBits-1:0]       softmax_scales_o,
  // for lockstep: the sum that can be read from the next cycle on
  output logic                                    sum_write_o,
  output logic [EntryBits-1:0]                    sum_entry_o,
  output logic [Lanes*AccumulatorBits-1:0]        sums_o           // lower halves of all lanes, upper halves of all lanes
);
  localparam int LowSumBits = LowBits + CarryBits;
  if (LowBits != HighBits) begin : gen_check
    $error("lpu_mvu_accumulate: both halves of a sum must be equally wide");
  end

  // ---- what happens in each stage
  logic adds_16, adds_17, adds_18, adds_19, adds_20;
  logic [EntryBits-1:0] entry_15, entry_16, entry_17, entry_18, entry_19;
  logic starts_16, starts_17, starts_18, residual_16, residual_17;
  logic keeps_16, keeps_17, keeps_18, keeps_19;
  assign entry_15 = beat_i.entry[EntryBits-1:0];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {adds_16, adds_17, adds_18, adds_19, adds_20} <= '0;
    else {adds_16, adds_17, adds_18, adds_19, adds_20} <= {adds_i, adds_16, adds_17, adds_18, adds_19};
    {entry_16, entry_17, entry_18, entry_19} <= {entry_15, entry_16, entry_17, entry_18};
    {starts_16, starts_17, starts_18} <= {beat_i.starts, starts_16, starts_17};
    {residual_16, residual_17} <= {beat_i.adds_residual, residual_16};
    {keeps_16, keeps_17, keeps_18, keeps_19} <= {beat_i.keeps_value_scale, keeps_16, keeps_17, keeps_18};
  end

  // ---- which of the four sums before this one is of the same entry: 1, 2, 3 or 4 stages ahead
  logic same_1_17, same_1_18, same_2_16, same_2_17, same_3_16, same_3_17, same_4_16, same_4_17;
  always_ff @(posedge clk_i) begin
    same_1_17 <= adds_17 && entry_17 == entry_16;
    same_2_16 <= adds_17 && entry_17 == entry_15;
    same_3_16 <= adds_18 && entry_18 == entry_15;
    same_4_16 <= adds_19 && entry_19 == entry_15;
    {same_1_18, same_2_17, same_3_17, same_4_17} <= {same_1_17, same_2_16, same_3_16, same_4_16};
  end

  // ---- the sum before, from the memory or from what is on its way there
  logic [Lanes*LowBits-1:0] low_18, low_19, low_20, old_low_17, start_low_17;
  logic [Lanes*HighBits-1:0] high_19, high_20, high_21, old_high_18, start_high_18, high_sums_18, stored_high_17;
  logic [Lanes*CarryBits-1:0] carries_18;
  logic [Lanes*AccumulatorBits-1:0] stored_16;   // all upper halves, all lower halves
  logic [Lanes*AccumulatorBits-1:0] sums_19;
  lpu_ram_1r1w #(.Width(Lanes * AccumulatorBits), .Depth(Entries)) u_memory (
    .clk_i,
    .write_i(adds_19),
    .write_address_i(entry_19),
    .write_data_i(sums_19),
    .read_i(adds_i && !(adds_19 && entry_19 == entry_15)),
    .read_address_i(entry_15),
    .read_data_o(stored_16)
  );

  assign sums_19 = {high_19, low_19};
  assign sum_write_o = adds_19;
  assign sum_entry_o = entry_19;
  assign sums_o = sums_19;

  assign start_low_17 = residual_17 ? aligned_low_i : '0;
  function automatic logic [LowSumBits-1:0] add_low(input logic [LowBits-1:0] old, input logic [LowSumBits-1:0] sum);
    add_low = LowSumBits'(old) + sum;
  endfunction

  always_ff @(posedge clk_i) begin
    if (adds_16) begin
      old_low_17 <= same_2_16 ? low_18 : same_3_16 ? low_19 : same_4_16 ? low_20 : stored_16[0+:Lanes*LowBits];
      stored_high_17 <= stored_16[Lanes*LowBits+:Lanes*HighBits];
    end
    if (adds_17) begin
      old_high_18 <= same_2_17 ? high_19 : same_3_17 ? high_20 : same_4_17 ? high_21 : stored_high_17;
      start_high_18 <= residual_17 ? aligned_high_i : '0;
      high_sums_18 <= high_sums_i;
      for (int lane = 0; lane < Lanes; lane++)
        {carries_18[lane*CarryBits+:CarryBits], low_18[lane*LowBits+:LowBits]} <= add_low(
            starts_17 ? start_low_17[lane*LowBits+:LowBits]
                      : same_1_17 ? low_18[lane*LowBits+:LowBits] : old_low_17[lane*LowBits+:LowBits],
            low_sums_i[lane*LowSumBits+:LowSumBits]);
    end
    if (adds_18) begin
      low_19 <= low_18;
      for (int lane = 0; lane < Lanes; lane++)
        high_19[lane*HighBits+:HighBits] <=
            (starts_18 ? start_high_18[lane*HighBits+:HighBits]
                       : same_1_18 ? high_19[lane*HighBits+:HighBits] : old_high_18[lane*HighBits+:HighBits]) +
            high_sums_18[lane*HighBits+:HighBits] + HighBits'(carries_18[lane*CarryBits+:CarryBits]);
    end
    if (adds_19) begin
      low_20 <= low_19;
      high_20 <= high_19;
    end
    if (adds_20) high_21 <= high_20;
  end

  // ---- readers
  lpu_accumulator_read #(
    .Lanes(Lanes), .Planes(2), .PlaneBits(LowBits), .Entries(Entries), .ReadLanes(VectorLanes)
  ) u_vector (
    .clk_i, .rst_ni, .write_i(adds_19), .write_entry_i(entry_19), .write_data_i(sums_19), .read_i(vector_read_i),
    .read_entry_i(vector_entry_i), .read_slice_i(vector_slice_i), .read_data_o(vector_sums_o)
  );
  lpu_accumulator_read #(
    .Lanes(Lanes), .Planes(2), .PlaneBits(LowBits), .Entries(Entries), .ReadLanes(SoftmaxLanes)
  ) u_softmax (
    .clk_i, .rst_ni, .write_i(adds_19), .write_entry_i(entry_19), .write_data_i(sums_19), .read_i(softmax_read_i),
    .read_entry_i(softmax_entry_i), .read_slice_i(softmax_slice_i), .read_data_o(softmax_sums_o)
  );
  lpu_accumulator_read #(
    .Lanes(Lanes), .Planes(1), .PlaneBits(ScaleBits), .Entries(Entries), .ReadLanes(SoftmaxLanes)
  ) u_scales (
    .clk_i, .rst_ni, .write_i(adds_19 && keeps_19), .write_entry_i(entry_19), .write_data_i(value_scales_i),
    .read_i(softmax_read_i), .read_entry_i(softmax_entry_i), .read_slice_i(softmax_slice_i),
    .read_data_o(softmax_scales_o)
  );
endmodule
