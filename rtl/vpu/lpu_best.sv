// The id of the largest key of a token, ties to the lowest id (docs/numbers.md §11): a slice of VectorLanes keys a
// cycle, compared by twos in five cycles, then with the best so far: best_valid_o comes 6 cycles after the token's
// last slice. Keys are compared as unsigned numbers; a lane that isn't there has the key zero. Relies on lpu_delay.
module lpu_best #(
  parameter int VectorLanes = 2,
  parameter int KeyBits = 33
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           valid_i,
  input  logic                           start_i,  // the token's first slice
  input  logic                           end_i,    // the token's last slice
  input  logic [19:0]                    row_i,    // id of lane 0, a multiple of VectorLanes
  input  logic [VectorLanes*KeyBits-1:0] keys_i,
  output logic                           best_valid_o,
  output logic [19:0]                    best_id_o,
  output logic [KeyBits-1:0]             best_key_o
);
  localparam int TreeCycles = 5;
  localparam int LaneBits = 5;
  localparam int PlaceBits = KeyBits + LaneBits;
  localparam int Level1 = (VectorLanes + 1) / 2;
  localparam int Level2 = (Level1 + 1) / 2;
  localparam int Level3 = (Level2 + 1) / 2;
  localparam int Level4 = (Level3 + 1) / 2;

  if (VectorLanes > 32 || VectorLanes < 2) $error("lpu_best: VectorLanes must be 2 to 32");

  // The lower place wins ties.
  function automatic logic [PlaceBits-1:0] better(input logic [PlaceBits-1:0] a, input logic [PlaceBits-1:0] b);
    better = (b[PlaceBits-1:LaneBits] > a[PlaceBits-1:LaneBits]) ? b : a;
  endfunction
  function automatic logic [PlaceBits-1:0] placed(input logic [KeyBits-1:0] key, input logic [LaneBits-1:0] lane);
    placed = {key, lane};
  endfunction

  logic [PlaceBits-1:0] best_s1 [Level1];
  logic [PlaceBits-1:0] best_s2 [Level2];
  logic [PlaceBits-1:0] best_s3 [Level3];
  logic [PlaceBits-1:0] best_s4 [Level4];
  logic [PlaceBits-1:0] best_s5_q;

  always_ff @(posedge clk_i) begin
    best_s5_q <= better(best_s4[0], best_s4[Level4-1]);
    for (int i = 0; i < Level4; i++) best_s4[i] = better(best_s3[2*i], best_s3[(2*i+1<Level3)?2*i+1 : 2*i]);
    for (int i = 0; i < Level3; i++) best_s3[i] = better(best_s2[2*i], best_s2[(2*i+1<Level2)?2*i+1 : 2*i]);
    for (int i = 0; i < Level2; i++) best_s2[i] = better(best_s1[2*i], best_s1[(2*i+1<Level1)?2*i+1 : 2*i]);
    for (int i = 0; i < Level1; i++) begin
      best_s1[i] = better(placed(keys_i[2*i*KeyBits+:KeyBits], LaneBits'(2 * i)),
                          placed(keys_i[(2*i+1)*KeyBits+:KeyBits], LaneBits'(2 * i + 1)));
    end
  end

  logic        valid_s5;
  logic        start_s5;
  logic        end_s5;
  logic [19:0] row_s5;
  lpu_delay #(.Width(23), .Cycles(TreeCycles), .HasReset(1'b1)) u_control (
    .clk_i, .rst_ni, .value_i({valid_i, start_i, end_i, row_i}), .value_o({valid_s5, start_s5, end_s5, row_s5})
  );

  logic [19:0] id;
  logic        is_better;
  assign id = row_s5 | 20'(best_s5_q[LaneBits-1:0]);
  assign is_better = best_s5_q[PlaceBits-1:LaneBits] > best_key_o ||
                     (best_s5_q[PlaceBits-1:LaneBits] == best_key_o && id < best_id_o);
  always_ff @(posedge clk_i) begin
    best_valid_o <= rst_ni && valid_s5 && end_s5;
    if (valid_s5 && (start_s5 || is_better)) begin
      best_key_o <= best_s5_q[PlaceBits-1:LaneBits];
      best_id_o <= id;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && valid_i) assert (row_i % 20'(VectorLanes) == 20'd0);
  end
`endif
endmodule
