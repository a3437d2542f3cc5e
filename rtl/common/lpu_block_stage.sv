// The end of a vector chain: slices of values are collected to blocks of 32 and quantised (docs/numbers.md §3).
// The block is there QuantiseCycles after its last slice; block_valid_o and saturated_o last one cycle.
// Relies on lpu_block_collector, lpu_quantise.
module lpu_block_stage #(
  parameter int SliceValues = 2,
  localparam int SlotBits = 5
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic [SlotBits-1:0]       slot_i,  // of the slice in its block; those before it have come
  input  logic                      end_i,   // the block's last slice; what is behind it in the block is zero
  input  logic [SliceValues*32-1:0] values_i,
  output logic                      block_valid_o,
  output logic [lpu_pkg::BlockValues*lpu_pkg::MantissaBits-1:0] mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0]                      offset_o,
  output logic                      saturated_o
);
  localparam int Slices = lpu_pkg::BlockValues / SliceValues;
  localparam int OwnSlotBits = (Slices > 1) ? $clog2(Slices) : 1;

  logic [lpu_pkg::BlockValues*32-1:0] values;
  logic                               saturated;
  lpu_block_collector #(.SliceValues(SliceValues)) u_collector (
    .clk_i, .valid_i, .set_i(1'b0), .slot_i(slot_i[OwnSlotBits-1:0]), .values_i, .block_o(values)
  );
  lpu_quantise u_quantise (.clk_i, .values_i(values), .mantissas_o, .offset_o, .saturated_o(saturated));
  lpu_delay #(.Cycles(lpu_pkg::QuantiseCycles), .HasReset(1'b1)) u_valid (
    .clk_i, .rst_ni, .value_i(valid_i && end_i), .value_o(block_valid_o)
  );
  assign saturated_o = block_valid_o && saturated;

  // A bus of one width for every slice size.
  logic unused_slot;
  assign unused_slot = ^slot_i;
endmodule
