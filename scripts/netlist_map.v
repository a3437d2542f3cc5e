// Shifts and carries of lpu_core as small gates, for scripts/netlist.sh: Yosys' own mapping of shifts makes a module of
// its own for every pattern of constant inputs, which takes longer than all the rest, and its carries are a parallel
// prefix tree of many more gates than a ripple.
// Relies on techmap's rules: a wire _TECHMAP_FAIL_ that is 1 leaves the cell to the mapping that comes next.

(* techmap_celltype = "$shl $sshl $shr $sshr $shiftx" *)
module _80_netlist_shift (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "";
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;

  localparam Left = _TECHMAP_CELLTYPE_ == "$shl" || _TECHMAP_CELLTYPE_ == "$sshl";
  localparam Extends = A_SIGNED && _TECHMAP_CELLTYPE_ != "$shiftx";
  localparam Fills = A_SIGNED && _TECHMAP_CELLTYPE_ == "$sshr";
  localparam Width = A_WIDTH > Y_WIDTH ? A_WIDTH : Y_WIDTH;

  wire fill = Fills ? A[A_WIDTH-1] : 1'b0;
  // Stage i, from bit i * Width on: shifted by the lowest i bits of B. A negative B (of $shiftx: beyond the vector,
  // where any value will do) counts as a large one.
  wire [(B_WIDTH+1)*Width-1:0] stages;
  genvar i;
  generate
    if (A_WIDTH >= Width) assign stages[Width-1:0] = A;
    else assign stages[Width-1:0] = {{(Width-A_WIDTH){Extends ? A[A_WIDTH-1] : 1'b0}}, A};
    for (i = 0; i < B_WIDTH; i = i + 1) begin : stage
      localparam By = i < 20 ? 1 << i : 1 << 20;
      wire [Width-1:0] before = stages[i*Width+:Width];
      wire [Width-1:0] moved;
      if (By >= Width) assign moved = {Width{fill}};
      else if (Left) assign moved = {before[Width-1-By:0], {By{1'b0}}};
      else assign moved = {{By{fill}}, before[Width-1:By]};
      assign stages[(i+1)*Width+:Width] = B[i] ? moved : before;
    end
  endgenerate
  assign Y = stages[B_WIDTH*Width+:Y_WIDTH];
endmodule

(* techmap_celltype = "$lcu" *)
module _80_netlist_carry (P, G, CI, CO);
  parameter WIDTH = 1;
  input [WIDTH-1:0] P, G;
  input CI;
  output [WIDTH-1:0] CO;
  assign CO[0] = G[0] | (P[0] & CI);
  genvar i;
  generate
    for (i = 1; i < WIDTH; i = i + 1) begin : bits
      assign CO[i] = G[i] | (P[i] & CO[i-1]);
    end
  endgenerate
endmodule
