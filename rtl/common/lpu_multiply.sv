// binary32 products, round to nearest even, subnormals zero, overflow saturated (docs/numbers.md §1,
// hls/engine/binary32.hpp). A pair a lane and cycle, MultiplyCycles = 4 later its product: operands, two partial
// products, their sum, normalise and round. No NaN and no infinity comes in. Relies on lpu_float_pkg; nothing to reset.
module lpu_multiply #(
  parameter int Lanes = 1
) (
  input  logic                clk_i,
  input  logic [Lanes*32-1:0] a_i,
  input  logic [Lanes*32-1:0] b_i,
  output logic [Lanes*32-1:0] result_o,
  output logic [Lanes-1:0]    saturated_o
);
  // The product is rounded to 24 bits as if exponents had no lower end, then flushed.
  function automatic logic [32:0] rounded(input logic [47:0] product, input logic signed [10:0] exponent,
                                          input logic negative, input logic is_zero);
    logic [23:0]        kept;
    logic               guard;
    logic               sticky;
    logic [24:0]        significand;
    logic signed [10:0] field;
    kept = product[47] ? product[47:24] : product[46:23];
    guard = product[47] ? product[23] : product[22];
    sticky = (product[21:0] != 22'd0) || (product[47] && product[22]);
    significand = {1'b0, kept} + {24'd0, guard && (sticky || kept[0])};
    field = exponent + $signed({10'd0, product[47]}) + $signed({10'd0, significand[24]});
    if (is_zero || field <= 11'sd0) rounded = {1'b0, negative, 31'd0};
    else if (field >= 11'sd255) rounded = {1'b1, negative, lpu_float_pkg::LargestFinite};
    else rounded = {1'b0, negative, field[7:0], significand[22:0]};
  endfunction

  logic [23:0]        a_s1 [Lanes];
  logic [23:0]        b_s1 [Lanes];
  logic [40:0]        low_s2 [Lanes];   // 24 × 17 bits: one DSP each
  logic [30:0]        high_s2 [Lanes];  // 24 × 7 bits
  logic [47:0]        product_s3 [Lanes];
  logic signed [10:0] exponent_s1 [Lanes];
  logic signed [10:0] exponent_s2 [Lanes];
  logic signed [10:0] exponent_s3 [Lanes];
  logic [1:0]         flags_s1 [Lanes];  // {negative, zero}
  logic [1:0]         flags_s2 [Lanes];
  logic [1:0]         flags_s3 [Lanes];

  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lanes; l++) begin
      {saturated_o[l], result_o[l*32+:32]} <=
          rounded(product_s3[l], exponent_s3[l], flags_s3[l][1], flags_s3[l][0]);

      product_s3[l] = {7'd0, low_s2[l]} + {high_s2[l], 17'd0};
      exponent_s3[l] = exponent_s2[l];
      flags_s3[l] = flags_s2[l];

      low_s2[l] = 41'(a_s1[l]) * 41'(b_s1[l][16:0]);
      high_s2[l] = 31'(a_s1[l]) * 31'(b_s1[l][23:17]);
      exponent_s2[l] = exponent_s1[l];
      flags_s2[l] = flags_s1[l];

      a_s1[l] = {1'b1, a_i[l*32+:23]};
      b_s1[l] = {1'b1, b_i[l*32+:23]};
      exponent_s1[l] = $signed({3'd0, a_i[l*32+23+:8]}) + $signed({3'd0, b_i[l*32+23+:8]}) -
                       11'(lpu_float_pkg::Bias);
      flags_s1[l] = {a_i[l*32+31] ^ b_i[l*32+31], (a_i[l*32+23+:8] == 8'd0) || (b_i[l*32+23+:8] == 8'd0)};
    end
  end
endmodule
