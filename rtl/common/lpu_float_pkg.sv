// Functions that several binary32 operators share: leading zeros, and a significand to fixed point (docs/numbers.md).
// Why functions: inside the rolled loops over lanes they become plain code in simulation and plain logic in synthesis.
// Relies on nothing.
package lpu_float_pkg;
  localparam int FractionBits = 23;
  localparam int Bias = 127;
  localparam logic [30:0] LargestFinite = 31'h7f7fffff;

  // Zeros above the highest one of 32 bits; 31 for a one in bit 0 and for zero alike.
  function automatic logic [4:0] leading_zeros_32(input logic [31:0] value);
    logic [4:0]  zeros;
    logic [15:0] half;
    logic [7:0]  quarter;
    logic [3:0]  eighth;
    logic [1:0]  pair;
    zeros[4] = value[31:16] == 16'd0;
    half = zeros[4] ? value[15:0] : value[31:16];
    zeros[3] = half[15:8] == 8'd0;
    quarter = zeros[3] ? half[7:0] : half[15:8];
    zeros[2] = quarter[7:4] == 4'd0;
    eighth = zeros[2] ? quarter[3:0] : quarter[7:4];
    zeros[1] = eighth[3:2] == 2'd0;
    pair = zeros[1] ? eighth[1:0] : eighth[3:2];
    zeros[0] = !pair[1];
    leading_zeros_32 = zeros;
  endfunction

  // Zeros above the highest one of 128 bits; 127 for a one in bit 0 and for zero alike.
  function automatic logic [6:0] leading_zeros_128(input logic [127:0] value);
    logic [1:0]  words;
    logic [63:0] half;
    logic [31:0] quarter;
    words[1] = value[127:64] == 64'd0;
    half = words[1] ? value[63:0] : value[127:64];
    words[0] = half[63:32] == 32'd0;
    quarter = words[0] ? half[31:0] : half[63:32];
    leading_zeros_128 = {words, leading_zeros_32(quarter)};
  endfunction

  // significand · 2^7 · 2^−right before its rounding, right 0…33: {integer bits, guard, sticky}.
  function automatic logic [32:0] shift_to_fixed(input logic [23:0] significand, input logic [5:0] right);
    logic [63:0] moved;
    moved = {significand, 40'd0} >> right;
    shift_to_fixed = {moved[63:33], moved[32], moved[31:0] != 32'd0};
  endfunction

  // Round to nearest even of what shift_to_fixed() gives.
  function automatic logic [31:0] round_fixed(input logic [32:0] shifted);
    round_fixed = {1'b0, shifted[32:2]} + {31'd0, shifted[1] && (shifted[0] || shifted[2])};
  endfunction
endpackage
