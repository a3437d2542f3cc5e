// CRC-32C over the beats of a stream, a whole beat a cycle (hls/contract/link.hpp; hls/engine/link_crc.hpp has the
// definition, a bit a step). The check is linear: each bit of it is the parity of some bits of the beat and of the
// register, so that a beat is one layer of parities and the register another, small one.
// crc_o is what a trailer holds after all beats up to the one on beat_i two cycles before; cycles in which advance_i is
// low don't count. Relies on nothing.
module lpu_link_crc #(
  parameter int StreamBits = 256
) (
  input  logic                  clk_i,
  input  logic                  advance_i,  // low: everything keeps its value
  input  logic                  valid_i,    // a beat is on beat_i
  input  logic                  first_i,    // with valid_i: the first of a vector
  input  logic [StreamBits-1:0] beat_i,
  output logic [31:0]           crc_o
);
  // Which bits of a beat bit `place` of the register depends on: the register's answer to each bit alone, followed by
  // zeros. The last bit's is the polynomial; the bit before's is one step later.
  function automatic logic [StreamBits-1:0] taps_of(input logic [4:0] place);
    logic [31:0] answer;
    answer = lpu_pkg::LinkCrcPolynomial;
    taps_of = '0;
    for (int word = StreamBits / 32 - 1; word >= 0; word--)
      for (int bit_of_word = 31; bit_of_word >= 0; bit_of_word--) begin
        taps_of[word*32+bit_of_word] = answer[place];
        answer = {1'b0, answer[31:1]} ^ (answer[0] ? lpu_pkg::LinkCrcPolynomial : 32'd0);
      end
  endfunction

  logic        part_valid_q, part_first_q;
  logic [31:0] part, part_q;      // of the beat alone
  logic [31:0] start, fresh;      // the register, which enters as the beat's first 32 bits would
  logic [31:0] register_q;
  assign start = part_first_q ? 32'hffffffff : register_q;
  for (genvar place = 0; place < 32; place++) begin : gen_places
    localparam logic [StreamBits-1:0] Taps = taps_of(5'(place));
    assign part[place] = ^(beat_i & Taps);
    assign fresh[place] = ^{part_q[place], start & Taps[31:0]};
  end
  assign crc_o = ~register_q;

  always_ff @(posedge clk_i)
    if (advance_i) begin
      part_valid_q <= valid_i;
      part_first_q <= first_i;
      part_q <= part;
      if (part_valid_q) register_q <= fresh;
    end
endmodule
