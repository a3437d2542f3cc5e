// The memory of one column group: a word of 144 bits (128 data, 16 side bits) for each lane at every address; weights
// first, then K and V. Port A feeds the multipliers; the second port loads words, and writes and reads back K and V.
// Both ports register their address first: a write shown in cycle c − 1 is seen by reads from cycle c on, which is what
// "readable at c" means (docs/isa.md), and not by those before.
// Deeper than UltraRAM, the remainder is a memory of its own, at the lowest addresses: block RAM with one writer and one
// reader, for weights only; K and V, which the second port reads back, lie above (contract: weight_only_words()).
// Relies on no read of an address in the very cycle in which it is written (an assertion watches).
module lpu_lane_memory #(
  parameter int Lanes = 4,
  parameter int LaneWords = 16,
  localparam int WordBits = lpu_mvu_pkg::WordBits,
  localparam int AddressBits = $clog2(LaneWords),
  // What a deep memory has beyond a multiple of UltraRAM's depth.
  localparam int LowWords = (LaneWords > lpu_pkg::UltraRamWords) ? LaneWords % lpu_pkg::UltraRamWords : 0,
  localparam int LowBits = (LowWords > 1) ? $clog2(LowWords) : 1,
  localparam int HighBits = $clog2(LaneWords - LowWords)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      read_i,
  input  logic [23:0]               read_address_i,
  output logic [Lanes*WordBits-1:0] read_words_o,      // three cycles after the address
  input  logic                      second_read_i,
  input  logic [Lanes-1:0]          second_write_i,    // by lane
  input  logic [23:0]               second_address_i,
  input  logic [Lanes*WordBits-1:0] second_words_i,
  output logic [Lanes*WordBits-1:0] second_words_o     // two cycles after the address
);
  logic                      read_q, second_read_q;
  logic [Lanes-1:0]          second_write_q;
  logic [23:0]               read_address_q, second_address_q;
  logic [Lanes*WordBits-1:0] second_words_q;
  always_ff @(posedge clk_i) begin
    read_q <= read_i && rst_ni;
    second_read_q <= second_read_i && rst_ni;
    second_write_q <= second_write_i & {Lanes{rst_ni}};
    read_address_q <= read_address_i;
    second_address_q <= second_address_i;
    if (|second_write_i) second_words_q <= second_words_i;
  end

  if (LowWords == 0) begin : gen_whole
    lpu_ram_1r1rw #(.Width(Lanes * WordBits), .Depth(LaneWords), .PartBits(WordBits)) u_words (
      .clk_i,
      .a_read_i(read_q),
      .a_address_i(read_address_q[AddressBits-1:0]),
      .a_data_o(read_words_o),
      .b_read_i(second_read_q),
      .b_write_i(second_write_q),
      .b_address_i(second_address_q[AddressBits-1:0]),
      .b_data_i(second_words_q),
      .b_data_o(second_words_o)
    );
  end else begin : gen_cut
    logic low_q, low_1, low_2, second_low_q;
    logic [23:0] high_address_q, second_high_address_q;
    logic [Lanes*WordBits-1:0] low_words, high_words;
    always_ff @(posedge clk_i) begin
      low_q <= read_address_i < 24'(LowWords);
      second_low_q <= second_address_i < 24'(LowWords);
      high_address_q <= read_address_i - 24'(LowWords);
      second_high_address_q <= second_address_i - 24'(LowWords);
      {low_1, low_2} <= {low_q, low_1};
    end
    lpu_ram_1r1w #(.Width(Lanes * WordBits), .Depth(LowWords), .PartBits(WordBits), .OutputRegister(1'b1)) u_low (
      .clk_i,
      .write_i(second_write_q & {Lanes{second_low_q}}),
      .write_address_i(second_address_q[LowBits-1:0]),
      .write_data_i(second_words_q),
      .read_i(read_q && low_q),
      .read_address_i(read_address_q[LowBits-1:0]),
      .read_data_o(low_words)
    );
    lpu_ram_1r1rw #(.Width(Lanes * WordBits), .Depth(LaneWords - LowWords), .PartBits(WordBits)) u_high (
      .clk_i,
      .a_read_i(read_q && !low_q),
      .a_address_i(high_address_q[HighBits-1:0]),
      .a_data_o(high_words),
      .b_read_i(second_read_q && !second_low_q),
      .b_write_i(second_write_q & {Lanes{!second_low_q}}),
      .b_address_i(second_high_address_q[HighBits-1:0]),
      .b_data_i(second_words_q),
      .b_data_o(second_words_o)
    );
    assign read_words_o = low_2 ? low_words : high_words;

    logic unused;
    assign unused = ^{high_address_q[23:HighBits], second_high_address_q[23:HighBits]};
`ifndef SYNTHESIS
    always_ff @(posedge clk_i)
      assert (!(second_read_q && second_low_q))
      else $error("%m: K and V don't lie below word %0d", LowWords);
`endif
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    assert (!read_q || read_address_q < 24'(LaneWords)) else $error("%m: no word %0d", read_address_q);
    assert (!(second_read_q || (|second_write_q)) || second_address_q < 24'(LaneWords))
    else $error("%m: no word %0d (second port)", second_address_q);
  end
`endif
endmodule
