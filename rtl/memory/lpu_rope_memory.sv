// Cosine and sine of every position and pair, VectorLanes / 2 pairs a word: what a slice of rows is rotated by.
// Relies on addresses that are multiples of VectorLanes / 2, and on nothing being read while a word is loaded (the host
// port refuses loads while a token runs).
module lpu_rope_memory #(
  parameter int VectorLanes = 2,
  parameter int RopePairs = 64,
  localparam int Pairs = VectorLanes / 2,
  localparam int Words = (RopePairs + Pairs - 1) / Pairs,
  localparam int AddressBits = (Words > 1) ? $clog2(Words) : 1,
  localparam int PairBits = $clog2(Pairs)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                read_i,
  input  logic [25:0]         read_pair_i,
  output logic [Pairs*32-1:0] cosine_o,        // three cycles after the pair's number
  output logic [Pairs*32-1:0] sine_o,
  input  logic                write_i,
  input  logic [25:0]         write_pair_i,
  input  logic [Pairs*64-1:0] write_pairs_i    // [pair][cosine, sine], as in the bundle
);
  logic                   read_q, write_q;
  logic [AddressBits-1:0] read_word_q, write_word_q;
  logic [Pairs*64-1:0]    write_pairs_q, pairs;
  always_ff @(posedge clk_i) begin
    read_q <= read_i && rst_ni;
    read_word_q <= read_pair_i[PairBits+:AddressBits];
    write_q <= write_i && rst_ni;
    write_word_q <= write_pair_i[PairBits+:AddressBits];
    if (write_i) write_pairs_q <= write_pairs_i;
  end

  lpu_ram_1r1w #(.Width(Pairs * 64), .Depth(Words), .OutputRegister(1'b1)) u_pairs (
    .clk_i,
    .write_i(write_q),
    .write_address_i(write_word_q),
    .write_data_i(write_pairs_q),
    .read_i(read_q && !write_q),
    .read_address_i(read_word_q),
    .read_data_o(pairs)
  );
  for (genvar pair = 0; pair < Pairs; pair++) begin : gen_pair
    assign cosine_o[pair*32+:32] = pairs[pair*64+:32];
    assign sine_o[pair*32+:32] = pairs[pair*64+32+:32];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    assert (!rst_ni || !read_i || (read_pair_i < 26'(RopePairs) && read_pair_i % 26'(Pairs) == '0))
    else $error("%m: no word of pairs begins at %0d", read_pair_i);
    assert (!rst_ni || !write_i || (write_pair_i < 26'(RopePairs) && write_pair_i % 26'(Pairs) == '0))
    else $error("%m: no word of pairs begins at %0d", write_pair_i);
  end
`endif
endmodule
