// One activation bank, that of one column group: blocks of 32 mantissas and an exponent (lpu_mvu_pkg: the offset of the
// fixed window, or E_b of softmax weights). The vector and softmax units write whole blocks, the group's lanes read.
// Both ports register their address first: a block shown in cycle c − 1 is seen by reads from cycle c on. A read in the
// cycle of a write sees the block before it: schedules use a place again as early as that.
// Relies on one write a cycle.
module lpu_activation_memory #(
  parameter int ActivationBlocks = 16,
  localparam int BlockBits = lpu_mvu_pkg::BlockBits,
  localparam int AddressBits = $clog2(ActivationBlocks)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 read_i,
  input  logic [15:0]          read_address_i,
  output logic [BlockBits-1:0] read_block_o,      // three cycles after the address
  input  logic                 write_i,
  input  logic [15:0]          write_address_i,
  input  logic [BlockBits-1:0] write_block_i
);
  logic                 read_q, write_q;
  logic [15:0]          read_address_q, write_address_q;
  logic [BlockBits-1:0] write_block_q;
  always_ff @(posedge clk_i) begin
    read_q <= read_i && rst_ni;
    write_q <= write_i && rst_ni;
    read_address_q <= read_address_i;
    write_address_q <= write_address_i;
    if (write_i) write_block_q <= write_block_i;
  end

  lpu_ram_1r1w #(.Width(BlockBits), .Depth(ActivationBlocks), .OutputRegister(1'b1), .ReadsOld(1'b1)) u_blocks (
    .clk_i,
    .write_i(write_q),
    .write_address_i(write_address_q[AddressBits-1:0]),
    .write_data_i(write_block_q),
    .read_i(read_q),
    .read_address_i(read_address_q[AddressBits-1:0]),
    .read_data_o(read_block_o)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    assert (!read_q || read_address_q < 16'(ActivationBlocks)) else $error("%m: no block %0d", read_address_q);
    assert (!write_q || write_address_q < 16'(ActivationBlocks)) else $error("%m: no block %0d", write_address_q);
  end
`endif
endmodule
