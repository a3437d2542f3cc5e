// binary32 sums, round to nearest even, subnormals zero, overflow saturated (docs/numbers.md §1,
// hls/engine/binary32.hpp). A pair a lane and cycle, AddCycles = 5 later its sum.
// Two paths, so that no leading zeros wait behind a long addition: *near*, a difference of exponents at most one apart,
// subtracts at once and then counts; *far* aligns first and then has at most one bit to normalise.
// Relies on lpu_float_pkg; nothing to reset.
module lpu_add #(
  parameter int Lanes = 1
) (
  input  logic                clk_i,
  input  logic [Lanes*32-1:0] a_i,
  input  logic [Lanes*32-1:0] b_i,
  output logic [Lanes*32-1:0] result_o,
  output logic [Lanes-1:0]    saturated_o
);
  // Stage 1: {sign, subtract, exponent of the larger [8], distance [8], larger [24], smaller [24]}
  function automatic logic [65:0] ordered(input logic [31:0] a, input logic [31:0] b);
    logic [30:0] larger;
    logic [30:0] lesser;
    logic        swap;
    logic        sign;
    swap = a[30:0] < b[30:0];
    larger = swap ? b[30:0] : a[30:0];
    lesser = swap ? a[30:0] : b[30:0];
    sign = swap ? b[31] : a[31];
    // Subnormal operands are zero; both zero: −0 only where both signs are.
    if (larger[30:23] == 8'd0) begin
      larger = 31'd0;
      sign = a[31] && b[31];
    end
    if (lesser[30:23] == 8'd0) lesser = 31'd0;
    ordered = {sign, a[31] ^ b[31], larger[30:23], larger[30:23] - lesser[30:23], larger[30:23] != 8'd0, larger[22:0],
               lesser[30:23] != 8'd0, lesser[22:0]};
  endfunction

  // Stage 2, far: the smaller one at the larger one's exponent, with guard, round and sticky.
  function automatic logic [26:0] aligned(input logic [23:0] lesser, input logic [7:0] distance);
    logic [53:0] moved;
    moved = {lesser, 30'd0} >> ((distance > 8'd27) ? 5'd27 : distance[4:0]);
    aligned = {moved[53:28], moved[27:0] != 28'd0};
  endfunction

  // Stage 4: {exponent [10], significand [24], guard, sticky}; zero where the sum is below the normal numbers.
  function automatic logic [35:0] normal_far(input logic [27:0] sum, input logic [7:0] exponent);
    logic signed [9:0] field;
    field = $signed({2'd0, exponent});
    if (sum[27]) normal_far = {field + 10'sd1, sum[27:4], sum[3], sum[2:0] != 3'd0};
    else if (sum[26]) normal_far = {field, sum[26:3], sum[2], sum[1:0] != 2'd0};
    else normal_far = {field - 10'sd1, sum[25:2], sum[1], sum[0]};
  endfunction

  function automatic logic [35:0] normal_near(input logic [24:0] difference, input logic [4:0] zeros,
                                              input logic [7:0] exponent);
    logic [24:0] moved;
    moved = difference << zeros;
    if (difference == 25'd0) normal_near = 36'd0;
    else normal_near = {$signed({2'd0, exponent}) - $signed({5'd0, zeros}), moved, 1'b0};
  endfunction

  // Stage 5
  function automatic logic [32:0] rounded(input logic [35:0] normal, input logic sign);
    logic signed [9:0] field;
    logic [24:0]       significand;
    significand = {1'b0, normal[25:2]} + {24'd0, normal[1] && (normal[0] || normal[2])};
    field = $signed(normal[35:26]) + $signed({9'd0, significand[24]});
    if (field <= 10'sd0) rounded = {1'b0, sign, 31'd0};
    else if (field >= 10'sd255) rounded = {1'b1, sign, lpu_float_pkg::LargestFinite};
    else rounded = {1'b0, sign, field[7:0], significand[22:0]};
  endfunction

  logic        sign_s1 [Lanes];
  logic        subtract_s1 [Lanes];
  logic [7:0]  exponent_s1 [Lanes];
  logic [7:0]  distance_s1 [Lanes];
  logic [23:0] large_s1 [Lanes];
  logic [23:0] small_s1 [Lanes];
  logic        sign_s2 [Lanes];
  logic        subtract_s2 [Lanes];
  logic        near_s2 [Lanes];
  logic [7:0]  exponent_s2 [Lanes];
  logic [23:0] large_s2 [Lanes];
  logic [26:0] aligned_s2 [Lanes];
  logic [24:0] difference_s2 [Lanes];
  logic        sign_s3 [Lanes];
  logic        near_s3 [Lanes];
  logic [7:0]  exponent_s3 [Lanes];
  logic [27:0] sum_s3 [Lanes];
  logic [24:0] difference_s3 [Lanes];
  logic [4:0]  zeros_s3 [Lanes];
  logic        sign_s4 [Lanes];
  logic [35:0] normal_s4 [Lanes];

  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lanes; l++) begin
      {saturated_o[l], result_o[l*32+:32]} <= rounded(normal_s4[l], sign_s4[l]);

      // An exact zero of unlike signs is +0.
      sign_s4[l] = sign_s3[l] && !(near_s3[l] && difference_s3[l] == 25'd0);
      normal_s4[l] = near_s3[l] ? normal_near(difference_s3[l], zeros_s3[l], exponent_s3[l])
                                : normal_far(sum_s3[l], exponent_s3[l]);

      sign_s3[l] = sign_s2[l];
      near_s3[l] = near_s2[l];
      exponent_s3[l] = exponent_s2[l];
      sum_s3[l] = {1'b0, large_s2[l], 3'd0} + (subtract_s2[l] ? ~{1'b0, aligned_s2[l]} : {1'b0, aligned_s2[l]}) +
                  {27'd0, subtract_s2[l]};
      difference_s3[l] = difference_s2[l];
      zeros_s3[l] = lpu_float_pkg::leading_zeros_32({difference_s2[l], 7'd0});

      sign_s2[l] = sign_s1[l];
      subtract_s2[l] = subtract_s1[l];
      near_s2[l] = subtract_s1[l] && distance_s1[l] <= 8'd1;
      exponent_s2[l] = exponent_s1[l];
      large_s2[l] = large_s1[l];
      aligned_s2[l] = aligned(small_s1[l], distance_s1[l]);
      difference_s2[l] = {large_s1[l], 1'b0} - (distance_s1[l][0] ? {1'b0, small_s1[l]} : {small_s1[l], 1'b0});

      {sign_s1[l], subtract_s1[l], exponent_s1[l], distance_s1[l], large_s1[l], small_s1[l]} =
          ordered(a_i[l*32+:32], b_i[l*32+:32]);
    end
  end
endmodule
