// Four random 32-bit numbers of a counter: Philox4x32-10 (docs/numbers.md §11, hls/engine/random.hpp). A counter a
// cycle; ten rounds of two 32 × 32 products, three cycles each (partial products, two sums of them): 30 cycles.
// The seed is constant while a token is chosen. Relies on nothing; nothing to reset.
module lpu_philox (
  input  logic         clk_i,
  input  logic [63:0]  seed_i,
  input  logic [31:0]  group_i,     // counter word 0: id / 4
  input  logic [31:0]  position_i,  // counter word 1
  output logic [127:0] words_o      // word 0 in the low bits
);
  localparam int Rounds = 10;
  localparam logic [31:0] Multiplier0 = 32'hd2511f53;
  localparam logic [31:0] Multiplier1 = 32'hcd9e8d57;
  localparam logic [31:0] Weyl0 = 32'h9e3779b9;
  localparam logic [31:0] Weyl1 = 32'hbb67ae85;

  logic [(Rounds+1)*128-1:0] words;
  assign words[127:0] = {64'd0, position_i, group_i};
  assign words_o = words[Rounds*128+:128];

  for (genvar r = 0; r < Rounds; r++) begin : gen_round
    logic [31:0] key0;
    logic [31:0] key1;
    assign key0 = seed_i[31:0] + 32'(Weyl0 * 32'(r));
    assign key1 = seed_i[63:32] + 32'(Weyl1 * 32'(r));

    // Products of halves: {high·high, low·high, high·low, low·low} of word 0 (and of word 2) with its multiplier.
    logic [127:0] parts0_q;
    logic [127:0] parts1_q;
    logic [63:0]  sides_s1_q;  // words 1 and 3 wait
    logic [63:0]  sides_s2_q;
    logic [63:0]  outer0_q;
    logic [63:0]  outer1_q;
    logic [32:0]  inner0_q;
    logic [32:0]  inner1_q;
    logic [127:0] next_q;
    logic [63:0]  product0;
    logic [63:0]  product1;
    assign product0 = outer0_q + {15'd0, inner0_q, 16'd0};
    assign product1 = outer1_q + {15'd0, inner1_q, 16'd0};
    always_ff @(posedge clk_i) begin
      next_q <= {product0[31:0], product0[63:32] ^ sides_s2_q[63:32] ^ key1,
                 product1[31:0], product1[63:32] ^ sides_s2_q[31:0] ^ key0};

      outer0_q <= {parts0_q[127:96], parts0_q[31:0]};
      outer1_q <= {parts1_q[127:96], parts1_q[31:0]};
      inner0_q <= {1'b0, parts0_q[95:64]} + {1'b0, parts0_q[63:32]};
      inner1_q <= {1'b0, parts1_q[95:64]} + {1'b0, parts1_q[63:32]};
      sides_s2_q <= sides_s1_q;

      parts0_q <= {32'(words[r*128+16+:16]) * 32'(Multiplier0[31:16]), 32'(words[r*128+:16]) * 32'(Multiplier0[31:16]),
                   32'(words[r*128+16+:16]) * 32'(Multiplier0[15:0]), 32'(words[r*128+:16]) * 32'(Multiplier0[15:0])};
      parts1_q <= {32'(words[r*128+80+:16]) * 32'(Multiplier1[31:16]),
                   32'(words[r*128+64+:16]) * 32'(Multiplier1[31:16]),
                   32'(words[r*128+80+:16]) * 32'(Multiplier1[15:0]),
                   32'(words[r*128+64+:16]) * 32'(Multiplier1[15:0])};
      sides_s1_q <= {words[r*128+96+:32], words[r*128+32+:32]};
    end
    assign words[(r+1)*128+:128] = next_q;
  end
endmodule
