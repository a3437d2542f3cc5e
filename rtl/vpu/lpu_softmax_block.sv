// Weights of one block of 32 positions to mantissas with one exponent (docs/numbers.md §9): the largest exponent by
// fours 3, shift 1, round 1: five cycles after the block is whole. Fed with whole blocks; any cycle may bring one.
// Relies on nothing; nothing to reset.
module lpu_softmax_block #(
  localparam int Values = lpu_pkg::BlockValues,
  localparam int WholeBits = 17,
  localparam int ProductBits = lpu_pkg::PowerBits + lpu_pkg::ScaleBits,
  localparam int MantissaBits = lpu_pkg::MantissaBits
) (
  input  logic                           clk_i,
  input  logic [Values*ProductBits-1:0]  product_i,
  input  logic [Values*WholeBits-1:0]    whole_i,
  input  logic [Values*WholeBits-1:0]    exponent_i,
  output logic [WholeBits-1:0]           largest_o,    // 3 cycles later: E_b, signed
  output logic [Values*MantissaBits-1:0] mantissas_o   // 5 cycles later: 0…511
);
  localparam int LargestCycles = 3;

  function automatic logic signed [WholeBits-1:0] larger(input logic signed [WholeBits-1:0] a,
                                                         input logic signed [WholeBits-1:0] b);
    larger = (a > b) ? a : b;
  endfunction

  // {integer bits [10], guard, sticky} of w·2^(n − E_b + 8): below 2^9 before it is rounded.
  function automatic logic [11:0] shifted(input logic [ProductBits-1:0] product,
                                          input logic signed [WholeBits-1:0] whole,
                                          input logic signed [WholeBits-1:0] largest);
    logic signed [WholeBits:0] right;
    logic [68:0]               moved;
    right = (WholeBits + 1)'(largest) - (WholeBits + 1)'(whole) - (WholeBits + 1)'(MantissaBits - 2);
    moved = {product, 36'd0} >> ((right > (WholeBits + 1)'(35)) ? 6'd35 : right[5:0]);
    shifted = {moved[45:35], moved[34:0] != 35'd0};
  endfunction

  function automatic logic [MantissaBits-1:0] rounded(input logic [11:0] parts);
    logic [MantissaBits-1:0] whole;
    whole = parts[11:2] + {{(MantissaBits - 1) {1'b0}}, parts[1] && (parts[0] || parts[2])};
    rounded = (whole > MantissaBits'(lpu_pkg::MantissaMax)) ? MantissaBits'(lpu_pkg::MantissaMax) : whole;
  endfunction

  logic [WholeBits-1:0]          largest_s1 [8];
  logic [WholeBits-1:0]          largest_s2 [2];
  logic [Values*ProductBits-1:0] product_s3;
  logic [Values*WholeBits-1:0]   whole_s3;
  logic [11:0]                   shifted_s4 [Values];

  lpu_delay #(.Width(Values * (ProductBits + WholeBits)), .Cycles(LargestCycles)) u_wait (
    .clk_i, .rst_ni(1'b1), .value_i({product_i, whole_i}), .value_o({product_s3, whole_s3})
  );

  always_ff @(posedge clk_i) begin
    for (int j = 0; j < Values; j++) begin
      mantissas_o[j*MantissaBits+:MantissaBits] <= rounded(shifted_s4[j]);
      shifted_s4[j] = shifted(product_s3[j*ProductBits+:ProductBits], whole_s3[j*WholeBits+:WholeBits], largest_o);
    end
    largest_o <= larger(largest_s2[0], largest_s2[1]);
    for (int i = 0; i < 2; i++) begin
      largest_s2[i] = larger(larger(largest_s1[4*i], largest_s1[4*i+1]), larger(largest_s1[4*i+2], largest_s1[4*i+3]));
    end
    for (int i = 0; i < 8; i++) begin
      largest_s1[i] = larger(larger(exponent_i[(4*i)*WholeBits+:WholeBits], exponent_i[(4*i+1)*WholeBits+:WholeBits]),
                             larger(exponent_i[(4*i+2)*WholeBits+:WholeBits],
                                    exponent_i[(4*i+3)*WholeBits+:WholeBits]));
    end
  end
endmodule
