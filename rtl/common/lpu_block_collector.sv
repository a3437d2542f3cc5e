// A block's values, which arrive some a cycle, as one whole block (docs/isa.md, "VPU: entries"): earlier slices are
// kept, the last one passes through, so a block is whole in the cycle of its last slice. Places that no slice filled
// are zero.
// Slices of a block come in order, from slot 0; between them any cycles may pass, and slices of blocks of other sets.
// Nothing to reset.
module lpu_block_collector #(
  parameter int SliceValues = 2,
  parameter int Width = 32,
  parameter int Sets = 1,  // blocks that grow side by side
  localparam int SetBits = (Sets > 1) ? $clog2(Sets) : 1,
  localparam int Slices = lpu_pkg::BlockValues / SliceValues,
  localparam int SlotBits = (Slices > 1) ? $clog2(Slices) : 1
) (
  input  logic                                  clk_i,
  input  logic                                  valid_i,
  input  logic [SetBits-1:0]                    set_i,
  input  logic [SlotBits-1:0]                   slot_i,
  input  logic [SliceValues*Width-1:0]          values_i,
  output logic [lpu_pkg::BlockValues*Width-1:0] block_o  // whole while the last slice is at the input
);
  localparam int SliceBits = SliceValues * Width;

  if (SliceValues < 1 || lpu_pkg::BlockValues % SliceValues != 0)
    $error("lpu_block_collector: SliceValues must divide a block");

  if (Slices == 1) begin : gen_wire
    logic unused;
    assign unused = ^{clk_i, valid_i, set_i, slot_i};
    assign block_o = values_i;
  end else begin : gen_collect
    logic [Sets*(Slices-1)*SliceBits-1:0] kept_q;
    logic [(Slices-1)*SliceBits-1:0]      kept;
    always_comb begin
      kept = '0;
      for (int s = 0; s < Sets; s++) begin
        if (Sets == 1 || set_i == SetBits'(s)) kept = kept_q[s*(Slices-1)*SliceBits+:(Slices-1)*SliceBits];
      end
      block_o[(Slices-1)*SliceBits+:SliceBits] = (slot_i == SlotBits'(Slices - 1)) ? values_i : '0;
      for (int s = 0; s < Slices - 1; s++) begin
        if (SlotBits'(s) < slot_i) block_o[s*SliceBits+:SliceBits] = kept[s*SliceBits+:SliceBits];
        else if (SlotBits'(s) == slot_i) block_o[s*SliceBits+:SliceBits] = values_i;
        else block_o[s*SliceBits+:SliceBits] = '0;
      end
    end
    always_ff @(posedge clk_i) begin
      for (int k = 0; k < Sets; k++) begin
        for (int s = 0; s < Slices - 1; s++) begin
          if (valid_i && (Sets == 1 || set_i == SetBits'(k)) && slot_i == SlotBits'(s))
            kept_q[(k*(Slices-1)+s)*SliceBits+:SliceBits] <= values_i;
        end
      end
    end
  end
endmodule
