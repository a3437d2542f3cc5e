// The chain between the feed-forward matrices, behind the front (docs/isa.md, kSwiglu; docs/numbers.md §10): rows come
// in pairs (gate, up), each × 1/rms already; (gate·up)·σ(gate), quantised in blocks of 32 results.
// σ takes 8 cycles, the first product 4: it waits for σ. A block comes 8 + MultiplyCycles + QuantiseCycles after the
// products of its last pair. Relies on lpu_sigmoid, lpu_multiply, lpu_block_stage.
module lpu_chain_swiglu #(
  parameter int VectorLanes = 2,
  localparam int SlotBits = 5
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic [SlotBits-1:0]       slot_i,  // among the slices of 64 rows
  input  logic                      block_end_i,
  input  logic [VectorLanes*32-1:0] product_i,
  output logic                      block_valid_o,
  output logic [lpu_pkg::BlockValues*lpu_pkg::MantissaBits-1:0] mantissas_o,
  output logic [lpu_pkg::ExponentBits-1:0]                      offset_o,
  output logic                      saturated_o
);
  localparam int Pairs = VectorLanes / 2;
  localparam int SigmoidCycles = 2 + lpu_pkg::TableCycles + 1;
  localparam int WaitCycles = SigmoidCycles - lpu_pkg::MultiplyCycles;

  if (VectorLanes % 2 != 0) $error("lpu_chain_swiglu: VectorLanes must be even");

  logic [Pairs*32-1:0] gate;
  logic [Pairs*32-1:0] up;
  always_comb begin
    for (int p = 0; p < Pairs; p++) begin
      gate[p*32+:32] = product_i[(2*p)*32+:32];
      up[p*32+:32] = product_i[(2*p+1)*32+:32];
    end
  end

  logic [Pairs*32-1:0] gate_up;
  logic [Pairs*32-1:0] gate_up_late;
  logic [Pairs*32-1:0] sigma;
  logic [Pairs*32-1:0] result;
  logic [Pairs-1:0]    gate_up_saturated;
  logic [Pairs-1:0]    result_saturated;
  lpu_multiply #(.Lanes(Pairs)) u_gate_up (
    .clk_i, .a_i(gate), .b_i(up), .result_o(gate_up), .saturated_o(gate_up_saturated)
  );
  lpu_delay #(.Width(Pairs * 32), .Cycles(WaitCycles)) u_wait (
    .clk_i, .rst_ni(1'b1), .value_i(gate_up), .value_o(gate_up_late)
  );
  lpu_sigmoid #(.Lanes(Pairs)) u_sigmoid (.clk_i, .value_i(gate), .result_o(sigma));
  lpu_multiply #(.Lanes(Pairs)) u_result (
    .clk_i, .a_i(gate_up_late), .b_i(sigma), .result_o(result), .saturated_o(result_saturated)
  );

  logic                valid_m;  // with the first product
  logic                valid_r;  // with the result
  logic [SlotBits-1:0] slot_r;
  logic                end_r;
  logic                block_saturated;
  lpu_delay #(.Cycles(lpu_pkg::MultiplyCycles), .HasReset(1'b1)) u_valid_m (
    .clk_i, .rst_ni, .value_i(valid_i), .value_o(valid_m)
  );
  lpu_delay #(.Width(SlotBits + 2), .Cycles(SigmoidCycles + lpu_pkg::MultiplyCycles), .HasReset(1'b1)) u_control (
    .clk_i, .rst_ni, .value_i({valid_i, slot_i, block_end_i}), .value_o({valid_r, slot_r, end_r})
  );
  lpu_block_stage #(.SliceValues(Pairs)) u_block (
    .clk_i, .rst_ni, .valid_i(valid_r), .slot_i(slot_r), .end_i(end_r), .values_i(result),
    .block_valid_o, .mantissas_o, .offset_o, .saturated_o(block_saturated)
  );
  assign saturated_o = (valid_m && gate_up_saturated != '0) || (valid_r && result_saturated != '0) || block_saturated;
endmodule
