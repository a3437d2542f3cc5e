// 1/rms of the residual (docs/numbers.md §6, hls/engine/rms_norm.hpp): each value's fixed-point rounding is squared,
// the squares are summed exactly; after the last slice: binary32, × 1/width, + epsilon, reciprocal square root.
// Slices of VectorLanes values in any cycles; start_i with the first one of a norm (the sum starts anew), end_i with
// the last one: scale_valid_o comes NormCycles − ConvertCycles − 1 = 29 cycles after that slice.
// Relies on lpu_convert, lpu_multiply, lpu_add, lpu_reciprocal, lpu_float_pkg.
module lpu_norm #(
  parameter int VectorLanes = 2
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic                      start_i,
  input  logic                      end_i,
  input  logic [VectorLanes*32-1:0] values_i,        // zero where there is no value
  input  logic [31:0]               inverse_width_i, // RNE(2^(−2·SquareFractionBits)/width), constant
  input  logic [31:0]               epsilon_i,       // constant
  output logic                      scale_valid_o,
  output logic [31:0]               scale_o,
  output logic                      saturated_o
);
  localparam int FixedCycles = 1;
  localparam int SquareCycles = 4;
  localparam int TreeCycles = 4;
  localparam int SumCycles = 2;
  // Squares are at most 2^62, 32 of them 2^67, and the whole sum 2^78.
  localparam int PartBits = 68;
  localparam int HalfBits = 40;
  localparam int Level1 = (VectorLanes + 2) / 3;
  localparam int Level2 = (Level1 + 2) / 3;
  localparam int Level3 = (Level2 + 2) / 3;

  if (Level3 > 3) $error("lpu_norm: VectorLanes must be at most 32");

  // {saturated, |RNE(x · 2^14)|}: saturated to ±2^31 as two's complement is, so −2^31 itself still fits.
  function automatic logic [32:0] magnitude(input logic [31:0] value);
    logic [7:0]  right;
    logic [31:0] whole;
    right = 8'd143 - value[30:23];
    whole = lpu_float_pkg::round_fixed(
        lpu_float_pkg::shift_to_fixed({1'b1, value[22:0]}, (value[30:23] < 8'd110) ? 6'd33 : right[5:0]));
    if (value[30:23] >= 8'd144) begin
      magnitude = {!(value[31] && value[30:23] == 8'd144 && value[22:0] == 23'd0),
                   value[31] ? 32'h80000000 : 32'h7fffffff};
    end else begin
      magnitude = {1'b0, whole};
    end
  endfunction

  logic [31:0]         fixed_s1 [VectorLanes];
  logic [31:0]         fixed_s2 [VectorLanes];
  logic [31:0]         low_s3 [VectorLanes];     // low · low
  logic [31:0]         middle_s3 [VectorLanes];  // low · high
  logic [31:0]         high_s3 [VectorLanes];    // high · high
  logic [49:0]         lower_s4 [VectorLanes];
  logic [31:0]         high_s4 [VectorLanes];
  logic [63:0]         square_s5 [VectorLanes];
  logic [PartBits-1:0] part_s6 [Level1];
  logic [PartBits-1:0] part_s7 [Level2];
  logic [PartBits-1:0] part_s8 [Level3];
  logic [PartBits-1:0] part_s9_q;
  logic [VectorLanes-1:0] fixed_saturated_q;

  always_ff @(posedge clk_i) begin
    part_s9_q <= part_s8[0] + ((Level3 > 1) ? part_s8[1 % Level3] : '0) + ((Level3 > 2) ? part_s8[2 % Level3] : '0);
    for (int i = 0; i < Level3; i++) begin
      part_s8[i] = part_s7[3*i] + ((3 * i + 1 < Level2) ? part_s7[(3*i+1)%Level2] : '0) +
                   ((3 * i + 2 < Level2) ? part_s7[(3*i+2)%Level2] : '0);
    end
    for (int i = 0; i < Level2; i++) begin
      part_s7[i] = part_s6[3*i] + ((3 * i + 1 < Level1) ? part_s6[(3*i+1)%Level1] : '0) +
                   ((3 * i + 2 < Level1) ? part_s6[(3*i+2)%Level1] : '0);
    end
    for (int i = 0; i < Level1; i++) begin
      part_s6[i] = PartBits'(square_s5[3*i]) +
                   ((3 * i + 1 < VectorLanes) ? PartBits'(square_s5[(3*i+1)%VectorLanes]) : '0) +
                   ((3 * i + 2 < VectorLanes) ? PartBits'(square_s5[(3*i+2)%VectorLanes]) : '0);
    end
    for (int l = 0; l < VectorLanes; l++) begin
      square_s5[l] = {high_s4[l], 32'd0} + {14'd0, lower_s4[l]};
      lower_s4[l] = {18'd0, low_s3[l]} + {1'b0, middle_s3[l], 17'd0};
      high_s4[l] = high_s3[l];
      low_s3[l] = 32'(fixed_s2[l][15:0]) * 32'(fixed_s2[l][15:0]);
      middle_s3[l] = 32'(fixed_s2[l][15:0]) * 32'(fixed_s2[l][31:16]);
      high_s3[l] = 32'(fixed_s2[l][31:16]) * 32'(fixed_s2[l][31:16]);
      fixed_s2[l] = fixed_s1[l];
      {fixed_saturated_q[l], fixed_s1[l]} = magnitude(values_i[l*32+:32]);
    end
  end

  // The running sum, its upper half a cycle behind.
  logic start_s9;
  logic start_s10;
  lpu_delay #(.Cycles(FixedCycles + SquareCycles + TreeCycles), .HasReset(1'b1)) u_start (
    .clk_i, .rst_ni, .value_i(valid_i && start_i), .value_o(start_s9)
  );
  lpu_delay #(.Cycles(1), .HasReset(1'b1)) u_start_upper (.clk_i, .rst_ni, .value_i(start_s9), .value_o(start_s10));

  logic [HalfBits:0]            lower_q;  // with its carry
  logic [HalfBits-1:0]          lower_late_q;
  logic [HalfBits-1:0]          upper_q;
  logic [PartBits-HalfBits-1:0] part_upper_q;
  always_ff @(posedge clk_i) begin
    lower_q <= {1'b0, start_s9 ? '0 : lower_q[HalfBits-1:0]} + {1'b0, part_s9_q[HalfBits-1:0]};
    part_upper_q <= part_s9_q[PartBits-1:HalfBits];
    upper_q <= (start_s10 ? '0 : upper_q) + HalfBits'(part_upper_q) + HalfBits'(lower_q[HalfBits]);
    lower_late_q <= lower_q[HalfBits-1:0];
  end

  // The end of a norm: one number.
  logic        end_s11;
  logic        end_s15;
  logic        end_s19;
  logic        end_s24;
  logic [31:0] total;
  logic [31:0] mean;
  logic [31:0] shifted;
  logic        total_saturated;
  logic        mean_saturated;
  logic        shifted_saturated;
  lpu_delay #(.Cycles(FixedCycles + SquareCycles + TreeCycles + SumCycles), .HasReset(1'b1)) u_end (
    .clk_i, .rst_ni, .value_i(valid_i && end_i), .value_o(end_s11)
  );
  lpu_delay #(.Cycles(lpu_pkg::ConvertCycles), .HasReset(1'b1)) u_end_total (
    .clk_i, .rst_ni, .value_i(end_s11), .value_o(end_s15)
  );
  lpu_delay #(.Cycles(lpu_pkg::MultiplyCycles), .HasReset(1'b1)) u_end_mean (
    .clk_i, .rst_ni, .value_i(end_s15), .value_o(end_s19)
  );
  lpu_delay #(.Cycles(lpu_pkg::AddCycles), .HasReset(1'b1)) u_end_shifted (
    .clk_i, .rst_ni, .value_i(end_s19), .value_o(end_s24)
  );
  lpu_delay #(.Cycles(lpu_pkg::TableCycles), .HasReset(1'b1)) u_end_scale (
    .clk_i, .rst_ni, .value_i(end_s24), .value_o(scale_valid_o)
  );

  lpu_convert #(.SumBits(2 * HalfBits + 1)) u_total (
    .clk_i, .sum_i({1'b0, upper_q, lower_late_q}), .exponent_i(10'd0), .result_o(total), .saturated_o(total_saturated)
  );
  lpu_multiply u_mean (
    .clk_i, .a_i(total), .b_i(inverse_width_i), .result_o(mean), .saturated_o(mean_saturated)
  );
  lpu_add u_shifted (
    .clk_i, .a_i(mean), .b_i(epsilon_i), .result_o(shifted), .saturated_o(shifted_saturated)
  );
  lpu_reciprocal #(.SquareRoot(1'b1)) u_scale (.clk_i, .value_i(shifted), .result_o(scale_o));

  assign saturated_o = (fixed_saturated_q != '0) || (end_s15 && total_saturated) || (end_s19 && mean_saturated) ||
                       (end_s24 && shifted_saturated);
endmodule
