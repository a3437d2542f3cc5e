// Greedy choice behind the front (docs/isa.md, kLogits; docs/numbers.md §11): the largest logit's id, ties to the lowest.
// The front's product is the logit. Two cycles are kept for the sampling noise, five compare by twos, one is the running
// best: best_valid_o comes LogitCycles − 12 + 8 = 16 cycles after the last slice's entry, 8 after its product; the four that
// are left until LogitCycles are the token's way to its next address.
// Relies on nothing but row_i being a multiple of VectorLanes.
module lpu_chain_logits #(
  parameter int VectorLanes = 2
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic                      start_i,  // the token's first slice
  input  logic                      end_i,    // the token's last slice
  input  logic [VectorLanes-1:0]    lanes_i,
  input  logic [19:0]               row_i,    // id of lane 0
  input  logic [VectorLanes*32-1:0] product_i,
  output logic                      best_valid_o,
  output logic [19:0]               best_id_o,
  output logic [31:0]               best_logit_o
);
  localparam int KeyCycles = 2;
  localparam int TreeCycles = 5;
  localparam int LaneBits = 5;
  // {there, order, lane}: unsigned comparison of {there, order} is the comparison of logits, −0 equal to 0.
  localparam int KeyBits = 33;
  localparam int PlaceBits = KeyBits + LaneBits;
  localparam int Level1 = (VectorLanes + 1) / 2;
  localparam int Level2 = (Level1 + 1) / 2;
  localparam int Level3 = (Level2 + 1) / 2;
  localparam int Level4 = (Level3 + 1) / 2;

  if (VectorLanes > 32 || VectorLanes < 2) $error("lpu_chain_logits: VectorLanes must be 2 to 32");

  function automatic logic [KeyBits-1:0] key(input logic [31:0] logit, input logic there);
    if (!there) key = '0;
    else if (logit[30:0] == 31'd0) key = {2'b11, 31'd0};
    else key = {1'b1, logit[31] ? ~logit : {1'b1, logit[30:0]}};
  endfunction
  function automatic logic [31:0] logit_of(input logic [31:0] order);
    logit_of = order[31] ? {1'b0, order[30:0]} : ~order;
  endfunction

  // The lower place wins ties.
  function automatic logic [PlaceBits-1:0] better(input logic [PlaceBits-1:0] a, input logic [PlaceBits-1:0] b);
    better = (b[PlaceBits-1:LaneBits] > a[PlaceBits-1:LaneBits]) ? b : a;
  endfunction

  logic [PlaceBits-1:0] key_s1 [VectorLanes];
  logic [PlaceBits-1:0] key_s2 [VectorLanes];
  logic [PlaceBits-1:0] best_s3 [Level1];
  logic [PlaceBits-1:0] best_s4 [Level2];
  logic [PlaceBits-1:0] best_s5 [Level3];
  logic [PlaceBits-1:0] best_s6 [Level4];
  logic [PlaceBits-1:0] best_s7_q;

  always_ff @(posedge clk_i) begin
    best_s7_q <= better(best_s6[0], best_s6[Level4-1]);
    for (int i = 0; i < Level4; i++) best_s6[i] = better(best_s5[2*i], best_s5[(2*i+1<Level3)?2*i+1 : 2*i]);
    for (int i = 0; i < Level3; i++) best_s5[i] = better(best_s4[2*i], best_s4[(2*i+1<Level2)?2*i+1 : 2*i]);
    for (int i = 0; i < Level2; i++) best_s4[i] = better(best_s3[2*i], best_s3[(2*i+1<Level1)?2*i+1 : 2*i]);
    for (int i = 0; i < Level1; i++) best_s3[i] = better(key_s2[2*i], key_s2[(2*i+1<VectorLanes)?2*i+1 : 2*i]);
    for (int l = 0; l < VectorLanes; l++) begin
      key_s2[l] = key_s1[l];
      key_s1[l] = {key(product_i[l*32+:32], lanes_i[l]), LaneBits'(l)};
    end
  end

  logic        valid_s7;
  logic        start_s7;
  logic        end_s7;
  logic [19:0] row_s7;
  lpu_delay #(.Width(23), .Cycles(KeyCycles + TreeCycles), .HasReset(1'b1)) u_control (
    .clk_i, .rst_ni, .value_i({valid_i, start_i, end_i, row_i}), .value_o({valid_s7, start_s7, end_s7, row_s7})
  );

  logic [KeyBits-1:0] key_q;
  logic [19:0]        id;
  logic               is_better;
  assign id = row_s7 | 20'(best_s7_q[LaneBits-1:0]);
  assign is_better = best_s7_q[PlaceBits-1:LaneBits] > key_q ||
                     (best_s7_q[PlaceBits-1:LaneBits] == key_q && id < best_id_o);
  always_ff @(posedge clk_i) begin
    best_valid_o <= rst_ni && valid_s7 && end_s7;
    if (valid_s7 && (start_s7 || is_better)) begin
      key_q <= best_s7_q[PlaceBits-1:LaneBits];
      best_id_o <= id;
    end
  end
  assign best_logit_o = logit_of(key_q[31:0]);

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid_i) assert (row_i % 20'(VectorLanes) == 20'd0);
  end
`endif
endmodule
