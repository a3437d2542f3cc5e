// The scale of a fitted group of K or V values (docs/numbers.md §8, hls/engine/kv_quantise.hpp fit()): from the largest
// magnitude A: u = A · RNE(1/M); s = ⌈u·2^−e⌉, 1…65535; 1/(s·2^e). MultiplyCycles + 1 + TableCycles = 10 cycles, a
// group a cycle. Rounding up happens in u's own significand, where s·2^e is normalised already: no leading zeros to
// count. Relies on lpu_multiply, lpu_reciprocal.
module lpu_fit_scale (
  input  logic        clk_i,
  input  logic [30:0] largest_i,
  input  logic        wide_i,       // M = 2047 instead of 127
  input  logic [7:0]  grid_i,       // e, signed
  output logic [15:0] scale_o,      // with inverse_o
  output logic [31:0] inverse_o,
  output logic        saturated_o   // with inverse_o
);
  localparam logic [31:0] InverseLimit = 32'h3c010204;      // RNE(1/127)
  localparam logic [31:0] InverseLimitWide = 32'h3a001002;  // RNE(1/2047)

  logic [31:0] step;
  logic        step_saturated;
  logic [7:0]  grid;
  lpu_multiply u_step (
    .clk_i, .a_i({1'b0, largest_i}), .b_i(wide_i ? InverseLimitWide : InverseLimit),
    .result_o(step), .saturated_o(step_saturated)
  );
  lpu_delay #(.Width(8), .Cycles(lpu_pkg::MultiplyCycles)) u_grid (
    .clk_i, .rst_ni(1'b1), .value_i(grid_i), .value_o(grid)
  );

  // {saturated, scale [16], s·2^e [32]}
  function automatic logic [48:0] rounded_up(input logic [30:0] u, input logic [7:0] e);
    logic signed [9:0]  e_wide;
    logic signed [9:0]  right;
    logic [23:0]        significand;
    logic [23:0]        mask;
    logic [24:0]        up;
    logic [24:0]        whole;
    logic               too_large;
    logic signed [10:0] field;
    logic [22:0]        fraction;
    logic [15:0]        scale;
    e_wide = $signed({{2{e[7]}}, e});
    right = 10'sd150 - $signed({2'b00, u[30:23]}) + e_wide;
    significand = {1'b1, u[22:0]};
    mask = ~(24'hffffff << right[4:0]);
    up = {1'b0, significand & ~mask} + (((significand & mask) != 24'd0) ? {1'b0, mask} + 25'd1 : 25'd0);
    whole = up >> right[4:0];
    too_large = u[30:23] != 8'd0 && (right <= 10'sd7 || (right == 10'sd8 && up[24]));
    if (too_large) begin
      scale = 16'hffff;
      field = 11'(e_wide) + 11'sd142;
      fraction = 23'h7fff00;
    end else if (u[30:23] == 8'd0 || right > 10'sd23) begin
      scale = 16'd1;
      field = 11'(e_wide) + 11'sd127;
      fraction = 23'd0;
    end else begin
      scale = whole[15:0];
      field = $signed({3'd0, u[30:23]}) + $signed({10'd0, up[24]});
      fraction = up[22:0];
    end
    if (field <= 11'sd0) rounded_up = {too_large, scale, 32'd0};
    else if (field >= 11'sd255) rounded_up = {1'b1, scale, 1'b0, lpu_float_pkg::LargestFinite};
    else rounded_up = {too_large, scale, 1'b0, field[7:0], fraction};
  endfunction

  logic [31:0] grid_scale_q;
  logic [15:0] scale_q;
  logic        scale_saturated_q;
  logic        step_saturated_q;
  always_ff @(posedge clk_i) begin
    {scale_saturated_q, scale_q, grid_scale_q} <= rounded_up(step[30:0], grid);
    step_saturated_q <= step_saturated;
  end

  lpu_reciprocal u_inverse (.clk_i, .value_i(grid_scale_q), .result_o(inverse_o));
  lpu_delay #(.Width(17), .Cycles(lpu_pkg::TableCycles)) u_scale (
    .clk_i, .rst_ni(1'b1), .value_i({scale_saturated_q || step_saturated_q, scale_q}),
    .value_o({saturated_o, scale_o})
  );

  logic unused_sign;
  assign unused_sign = step[31];
endmodule
