// The softmax unit's arithmetic (docs/isa.md, "SMX: softmax"; docs/numbers.md §9): SoftmaxLanes scores a cycle become
// weights, 32 of them a block with its own exponent, each row's largest exponent and 1/Z. Rows of several segments
// come in turn. What comes when (cycles after the entry that ends it): a block at SoftmaxBlockCycles − 1 and E, E − N
// at SoftmaxRowCycles − 1 (one cycle is the write behind the port), 1/Z at ReciprocalCycles.
// Relies on lpu_softmax_weights, _block, _part and _row, lpu_block_collector. Accumulators, masks and addresses are the
// core's: docs/units/softmax.md.
module lpu_softmax #(
  parameter int Lanes = 4,          // rows of the array: how far a segment's scores lie from its next ones
  parameter int Segments = 2,       // most that an instruction has
  parameter int SoftmaxLanes = 2,
  localparam int Blocks = (SoftmaxLanes > lpu_pkg::BlockValues) ? SoftmaxLanes / lpu_pkg::BlockValues : 1,
  localparam int SegmentBits = (Segments > 1) ? $clog2(Segments) : 1,
  localparam int SlotBits = 5,
  localparam int WholeBits = 17,
  localparam int DifferenceBits = 6,
  localparam int MantissaBits = lpu_pkg::BlockValues * lpu_pkg::MantissaBits
) (
  input  logic                                           clk_i,
  input  logic                                           rst_ni,
  // ---- entry, cycle 0
  input  logic                                           entry_valid_i,
  input  logic [Blocks-1:0]                              entry_blocks_i,    // that are there: below ⌈(pos + 1)/32⌉
  input  logic [SegmentBits-1:0]                         entry_segment_i,
  input  logic [SlotBits-1:0]                            entry_slot_i,      // slice of the block
  input  logic                                           entry_block_end_i, // its last slice
  input  logic                                           entry_starts_i,    // slices of the row's first block(s)
  input  logic                                           entry_row_end_i,   // the row's last entry
  input  logic                                           entry_end_i,       // the instruction's last entry
  input  logic [7:0]                                     entry_grid_i,      // K's grid exponent of the segment's head
  input  logic [SoftmaxLanes-1:0]                        unmasked_i,        // positions up to the current one
  input  logic [SoftmaxLanes*lpu_pkg::AccumulatorBits-1:0] sum_i,
  input  logic [SoftmaxLanes*lpu_pkg::ScaleBits-1:0]     value_scale_i,     // V's scale, at least 1
  // ---- results
  output logic [Blocks-1:0]                              block_valid_o,
  output logic [SegmentBits-1:0]                         block_segment_o,
  output logic [Blocks*MantissaBits-1:0]                 mantissas_o,
  output logic [Blocks*WholeBits-1:0]                    block_exponent_o,  // E_b, signed
  output logic                                           row_valid_o,
  output logic [Segments*WholeBits-1:0]                  exponent_o,        // E of each segment
  output logic [Segments*DifferenceBits-1:0]             difference_o,      // E − N
  output logic                                           inverse_valid_o,
  output logic [Segments*32-1:0]                         inverse_o,
  output logic                                           saturated_o
);
  localparam int Values = lpu_pkg::BlockValues;
  localparam int SliceValues = (SoftmaxLanes > Values) ? Values : SoftmaxLanes;
  localparam int Slices = Values / SliceValues;
  localparam int OwnSlotBits = (Slices > 1) ? $clog2(Slices) : 1;
  // Fewer lanes than a block: blocks of all segments grow side by side.
  localparam int Sets = (Lanes < Values && Slices > 1) ? Segments : 1;
  localparam int SetBits = (Sets > 1) ? $clog2(Sets) : 1;
  localparam int PowerBits = lpu_pkg::PowerBits;
  localparam int ScaleBits = lpu_pkg::ScaleBits;
  localparam int ProductBits = PowerBits + ScaleBits;
  localparam int PartBits = PowerBits + lpu_pkg::SoftmaxDepth + 5;

  if (SoftmaxLanes < 1 || SoftmaxLanes > 64 || SoftmaxLanes != 1 << $clog2(SoftmaxLanes))
    $error("lpu_softmax: SoftmaxLanes must be a power of two, 1 to 64");
  if (Lanes % SoftmaxLanes != 0) $error("lpu_softmax: SoftmaxLanes must divide Lanes");

  // ---- weights
  logic [SoftmaxLanes*WholeBits-1:0]   whole_s2;
  logic                                saturated_s2;
  logic [SoftmaxLanes*PowerBits-1:0]   power_next_s6;
  logic [SoftmaxLanes*ProductBits-1:0] product_s11;
  logic [SoftmaxLanes*WholeBits-1:0]   whole_s11;
  logic [SoftmaxLanes*WholeBits-1:0]   exponent_s11;
  lpu_softmax_weights #(.SoftmaxLanes(SoftmaxLanes)) u_weights (
    .clk_i, .unmasked_i(entry_valid_i ? unmasked_i : '0), .grid_i(entry_grid_i), .sum_i, .value_scale_i,
    .whole_o(whole_s2), .saturated_o(saturated_s2), .power_next_o(power_next_s6), .product_o(product_s11),
    .product_whole_o(whole_s11), .exponent_o(exponent_s11)
  );
  always_ff @(posedge clk_i) saturated_o <= rst_ni && saturated_s2;

  // ---- control, from cycle to cycle
  typedef struct packed {
    logic                   valid;      // a slice
    logic [Blocks-1:0]      blocks;     // that end with it
    logic [SegmentBits-1:0] segment;
    logic [OwnSlotBits-1:0] slot;
    logic                   starts;
    logic                   row_end;
    logic                   ends;
  } control_t;
  localparam int ControlBits = 4 + Blocks + SegmentBits + OwnSlotBits;  // of control_t
  control_t control_s0;
  control_t control_s2;
  control_t control_s6;
  control_t control_s11;
  control_t control_s14;
  control_t control_s16;
  assign control_s0 = {entry_valid_i, entry_blocks_i & {Blocks{entry_valid_i && entry_block_end_i}}, entry_segment_i,
                       entry_slot_i[OwnSlotBits-1:0], entry_starts_i, entry_valid_i && entry_row_end_i,
                       entry_valid_i && entry_end_i};
  lpu_delay #(.Width(ControlBits), .Cycles(2), .HasReset(1'b1)) u_control_s2 (
    .clk_i, .rst_ni, .value_i(control_s0), .value_o(control_s2)
  );
  lpu_delay #(.Width(ControlBits), .Cycles(4), .HasReset(1'b1)) u_control_s6 (
    .clk_i, .rst_ni, .value_i(control_s2), .value_o(control_s6)
  );
  lpu_delay #(.Width(ControlBits), .Cycles(5), .HasReset(1'b1)) u_control_s11 (
    .clk_i, .rst_ni, .value_i(control_s6), .value_o(control_s11)
  );
  lpu_delay #(.Width(ControlBits), .Cycles(3), .HasReset(1'b1)) u_control_s14 (
    .clk_i, .rst_ni, .value_i(control_s11), .value_o(control_s14)
  );
  lpu_delay #(.Width(ControlBits), .Cycles(2), .HasReset(1'b1)) u_control_s16 (
    .clk_i, .rst_ni, .value_i(control_s14), .value_o(control_s16)
  );

  // ---- blocks
  logic [Blocks*WholeBits-1:0] part_whole_s5;
  logic [Blocks*WholeBits-1:0] part_whole_s11;
  logic [Blocks*PartBits-1:0]  part_s11;
  logic [Blocks*WholeBits-1:0] largest_s14;
  for (genvar b = 0; b < Blocks; b++) begin : gen_block
    logic [Values*WholeBits-1:0]   whole;
    logic [Values*PowerBits-1:0]   power_next;
    logic [Values*ProductBits-1:0] product;
    logic [Values*WholeBits-1:0]   product_whole;
    logic [Values*WholeBits-1:0]   exponent;
    lpu_block_collector #(.SliceValues(SliceValues), .Width(WholeBits), .Sets(Sets)) u_whole (
      .clk_i, .valid_i(control_s2.valid), .set_i(control_s2.segment[SetBits-1:0]), .slot_i(control_s2.slot),
      .values_i(whole_s2[b*SliceValues*WholeBits+:SliceValues*WholeBits]), .block_o(whole)
    );
    lpu_block_collector #(.SliceValues(SliceValues), .Width(PowerBits), .Sets(Sets)) u_power (
      .clk_i, .valid_i(control_s6.valid), .set_i(control_s6.segment[SetBits-1:0]), .slot_i(control_s6.slot),
      .values_i(power_next_s6[b*SliceValues*PowerBits+:SliceValues*PowerBits]), .block_o(power_next)
    );
    lpu_block_collector #(.SliceValues(SliceValues), .Width(ProductBits), .Sets(Sets)) u_product (
      .clk_i, .valid_i(control_s11.valid), .set_i(control_s11.segment[SetBits-1:0]), .slot_i(control_s11.slot),
      .values_i(product_s11[b*SliceValues*ProductBits+:SliceValues*ProductBits]), .block_o(product)
    );
    lpu_block_collector #(.SliceValues(SliceValues), .Width(WholeBits), .Sets(Sets)) u_product_whole (
      .clk_i, .valid_i(control_s11.valid), .set_i(control_s11.segment[SetBits-1:0]), .slot_i(control_s11.slot),
      .values_i(whole_s11[b*SliceValues*WholeBits+:SliceValues*WholeBits]), .block_o(product_whole)
    );
    lpu_block_collector #(.SliceValues(SliceValues), .Width(WholeBits), .Sets(Sets)) u_exponent (
      .clk_i, .valid_i(control_s11.valid), .set_i(control_s11.segment[SetBits-1:0]), .slot_i(control_s11.slot),
      .values_i(exponent_s11[b*SliceValues*WholeBits+:SliceValues*WholeBits]), .block_o(exponent)
    );
    lpu_softmax_part u_part (
      .clk_i, .whole_i(whole), .power_next_i(power_next), .largest_o(part_whole_s5[b*WholeBits+:WholeBits]),
      .part_o(part_s11[b*PartBits+:PartBits])
    );
    lpu_softmax_block u_block (
      .clk_i, .product_i(product), .whole_i(product_whole), .exponent_i(exponent),
      .largest_o(largest_s14[b*WholeBits+:WholeBits]), .mantissas_o(mantissas_o[b*MantissaBits+:MantissaBits])
    );
  end
  lpu_delay #(.Width(Blocks * WholeBits), .Cycles(6)) u_part_whole (
    .clk_i, .rst_ni(1'b1), .value_i(part_whole_s5), .value_o(part_whole_s11)
  );
  lpu_delay #(.Width(Blocks * WholeBits), .Cycles(2)) u_block_exponent (
    .clk_i, .rst_ni(1'b1), .value_i(largest_s14), .value_o(block_exponent_o)
  );
  assign block_valid_o = control_s16.blocks;
  assign block_segment_o = control_s16.segment;

  // ---- rows
  lpu_softmax_row #(.Blocks(Blocks), .Segments(Segments)) u_row (
    .clk_i, .rst_ni, .part_valid_i(control_s11.blocks), .part_segment_i(control_s11.segment),
    .part_starts_i(control_s11.starts), .part_row_end_i(control_s11.row_end), .part_end_i(control_s11.ends),
    .part_whole_i(part_whole_s11), .part_i(part_s11), .exponent_valid_i(control_s14.blocks),
    .exponent_segment_i(control_s14.segment), .exponent_starts_i(control_s14.starts), .exponent_i(largest_s14),
    .row_valid_o, .exponent_o, .difference_o, .inverse_valid_o, .inverse_o
  );

  logic unused_control;
  assign unused_control = ^{entry_slot_i, control_s2, control_s6, control_s14, control_s16};
endmodule
