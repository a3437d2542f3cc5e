// The minimum words of one column group: 16 bits for each lane (12-bit mantissa, 4-bit shift). Written while a bundle
// is loaded, read beside the lanes' words. A machine without minimums has none: it reads zeros.
// Relies on no read while it is loaded.
module lpu_minimum_memory #(
  parameter int Lanes = 4,
  parameter bit HasMinimum = 1'b1,
  parameter int MinimumWords = 16,
  localparam int MinimumBits = lpu_mvu_pkg::MinimumBits
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         read_i,
  input  logic [23:0]                  read_address_i,
  output logic [Lanes*MinimumBits-1:0] read_words_o,     // three cycles after the address
  input  logic [Lanes-1:0]             write_i,          // by lane
  input  logic [23:0]                  write_address_i,
  input  logic [Lanes*MinimumBits-1:0] write_words_i
);
  if (HasMinimum) begin : gen_memory
    localparam int AddressBits = $clog2(MinimumWords);
    logic                         read_q;
    logic [Lanes-1:0]             write_q;
    logic [23:0]                  read_address_q, write_address_q;
    logic [Lanes*MinimumBits-1:0] write_words_q;
    always_ff @(posedge clk_i) begin
      read_q <= read_i && rst_ni;
      write_q <= write_i & {Lanes{rst_ni}};
      read_address_q <= read_address_i;
      write_address_q <= write_address_i;
      if (|write_i) write_words_q <= write_words_i;
    end
    lpu_ram_1r1w #(
      .Width(Lanes * MinimumBits), .Depth(MinimumWords), .PartBits(MinimumBits), .OutputRegister(1'b1)
    ) u_words (
      .clk_i,
      .write_i(write_q),
      .write_address_i(write_address_q[AddressBits-1:0]),
      .write_data_i(write_words_q),
      .read_i(read_q),
      .read_address_i(read_address_q[AddressBits-1:0]),
      .read_data_o(read_words_o)
    );
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      assert (!read_q || read_address_q < 24'(MinimumWords)) else $error("%m: no minimum word %0d", read_address_q);
      assert (!(|write_q) || write_address_q < 24'(MinimumWords))
      else $error("%m: no minimum word %0d", write_address_q);
    end
`endif
  end else begin : gen_none
    logic unused;
    assign unused = ^{clk_i, rst_ni, read_i, read_address_i, write_i, write_address_i, write_words_i};
    assign read_words_o = '0;
  end
endmodule
