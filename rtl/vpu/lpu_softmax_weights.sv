// Scores to weights, lane by lane (docs/numbers.md §9, hls/engine/softmax.hpp): t = RNE(sum·2^…) in fixed point,
// n = ⌊t⌋, T = 2^f by table, w = T·s_V, and the weight's exponent n + ⌊log2 w⌋. A slice a cycle; cycles after it: n 2,
// T 7 (power_next_o at 6, before its register), w and exponent 11. A masked lane has the lowest n and exponent there
// are. Relies on lpu_interpolate, lpu_float_pkg, lpu_delay; nothing to reset.
module lpu_softmax_weights #(
  parameter int SoftmaxLanes = 2,
  localparam int SumBits = lpu_pkg::AccumulatorBits,
  localparam int WholeBits = 17,   // signed: n of 16 bits, or −2^16 where masked
  localparam int ProductBits = lpu_pkg::PowerBits + lpu_pkg::ScaleBits
) (
  input  logic                                      clk_i,
  input  logic [SoftmaxLanes-1:0]                   unmasked_i,
  input  logic [7:0]                                grid_i,         // K's grid exponent, signed
  input  logic [SoftmaxLanes*SumBits-1:0]           sum_i,
  input  logic [SoftmaxLanes*lpu_pkg::ScaleBits-1:0] value_scale_i,
  output logic [SoftmaxLanes*WholeBits-1:0]         whole_o,        // cycle 2
  output logic                                      saturated_o,    // cycle 2
  output logic [SoftmaxLanes*lpu_pkg::PowerBits-1:0] power_next_o,  // cycle 6
  output logic [SoftmaxLanes*ProductBits-1:0]       product_o,      // cycle 11
  output logic [SoftmaxLanes*WholeBits-1:0]         product_whole_o,
  output logic [SoftmaxLanes*WholeBits-1:0]         exponent_o
);
  localparam int FixedCycles = 2;
  localparam int ProductCycles = 3;
  localparam int ScaleBits = lpu_pkg::ScaleBits;
  localparam int PowerBits = lpu_pkg::PowerBits;
  localparam logic [WholeBits-1:0] Lowest = {1'b1, {(WholeBits - 1){1'b0}}};
  // The shift is grid + Left: to the left by at most 33 (more saturates as well), to the right by at most 89 (zero).
  localparam int Left = lpu_pkg::WindowLow - lpu_pkg::MinimumFractionBits + lpu_pkg::ScoreFractionBits;
  localparam int MostLeft = lpu_pkg::ScoreBits + 1;
  localparam int MostRight = SumBits + 1;
  localparam int WideBits = SumBits + MostLeft;

  // ---- fixed point: one shift for all lanes
  logic signed [9:0]  shift;
  logic signed [9:0]  opposite;
  logic [5:0]         left;
  logic [6:0]         right;
  logic [SumBits-1:0] guard_mask;
  logic [SumBits-1:0] sticky_mask;
  assign shift = 10'($signed(grid_i)) + 10'(Left);
  assign left = (shift < 10'sd0) ? 6'd0 : (shift > 10'(MostLeft)) ? 6'(MostLeft) : shift[5:0];
  assign opposite = 10'sd0 - shift;
  assign right = (opposite <= 10'sd0) ? 7'd0 : (opposite > 10'(MostRight)) ? 7'(MostRight) : opposite[6:0];
  assign sticky_mask = (right == 7'd0) ? '0 : ~({SumBits{1'b1}} << (right - 7'd1));
  assign guard_mask = (right == 7'd0) ? '0 : SumBits'(1) << (right - 7'd1);

  // {overflow, negative, integer bits [33], guard, sticky}. Shifted out by SumBits + 1, a negative sum leaves −1, which
  // its sign as guard (guard_mask is empty there) rounds up to zero.
  function automatic logic [36:0] shifted(input logic [SumBits-1:0] sum, input logic [5:0] to_left,
                                          input logic [6:0] to_right, input logic [SumBits-1:0] guards,
                                          input logic [SumBits-1:0] stickies);
    logic [WideBits-1:0] moved_left;
    logic [WideBits-1:0] moved;
    logic                guard;
    moved_left = {{MostLeft{sum[SumBits-1]}}, sum} << to_left;
    moved = $unsigned($signed(moved_left) >>> to_right);
    guard = (sum & guards) != '0 || (to_right == 7'(MostRight) && sum[SumBits-1]);
    shifted = {moved[WideBits-1:32] != {(WideBits - 32){sum[SumBits-1]}}, sum[SumBits-1], moved[32:0], guard,
               (sum & stickies) != '0};
  endfunction

  // {saturated, n [17], f [16]}; masked: the lowest n. Rounding may leave the 32 bits, or come back into them.
  function automatic logic [33:0] rounded(input logic [36:0] parts, input logic unmasked);
    logic [33:0] whole;
    logic        over;
    logic [31:0] t;
    whole = {parts[34], parts[34:2]} + {33'd0, parts[1] && (parts[0] || parts[2])};
    over = parts[36] || (whole[33:31] != 3'b000 && whole[33:31] != 3'b111);
    t = over ? {parts[35], {31{!parts[35]}}} : whole[31:0];
    rounded = {over, unmasked ? {t[31], t[31:16]} : Lowest, t[15:0]};
  endfunction

  logic [36:0]                shifted_s1 [SoftmaxLanes];
  logic [SoftmaxLanes-1:0]    unmasked_s1_q;
  logic [SoftmaxLanes-1:0]    saturated_s2_q;
  logic [SoftmaxLanes*16-1:0] fraction_s2_q;

  always_ff @(posedge clk_i) begin
    unmasked_s1_q <= unmasked_i;
    for (int l = 0; l < SoftmaxLanes; l++) begin
      {saturated_s2_q[l], whole_o[l*WholeBits+:WholeBits], fraction_s2_q[l*16+:16]} <=
          rounded(shifted_s1[l], unmasked_s1_q[l]);
      shifted_s1[l] = shifted(unmasked_i[l] ? sum_i[l*SumBits+:SumBits] : '0, left, right, guard_mask, sticky_mask);
    end
  end
  assign saturated_o = saturated_s2_q != '0;

  // ---- power and product
  logic [SoftmaxLanes*7-1:0]         index;
  logic [SoftmaxLanes*9-1:0]         rest;
  logic [SoftmaxLanes*24-1:0]        power_next;
  logic [SoftmaxLanes*24-1:0]        power;
  logic [SoftmaxLanes*ScaleBits-1:0] value_scale_s7;
  always_comb begin
    for (int l = 0; l < SoftmaxLanes; l++) begin
      {index[l*7+:7], rest[l*9+:9]} = fraction_s2_q[l*16+:16];
      power_next_o[l*PowerBits+:PowerBits] = power_next[l*24+:PowerBits];
    end
  end
  lpu_interpolate #(
    .Lanes(SoftmaxLanes), .Entries(128), .RestBits(9), .Points(lpu_tables_pkg::Power)
  ) u_power (
    .clk_i, .index_i(index), .rest_i(rest), .complement_i('0), .next_o(power_next), .result_o(power)
  );
  lpu_delay #(.Width(SoftmaxLanes * ScaleBits), .Cycles(FixedCycles + lpu_pkg::TableCycles)) u_value_scale (
    .clk_i, .rst_ni(1'b1), .value_i(value_scale_i), .value_o(value_scale_s7)
  );
  logic [SoftmaxLanes*WholeBits-1:0] whole_s10;
  lpu_delay #(.Width(SoftmaxLanes * WholeBits), .Cycles(lpu_pkg::TableCycles + ProductCycles)) u_whole (
    .clk_i, .rst_ni(1'b1), .value_i(whole_o), .value_o(whole_s10)
  );

  function automatic logic [WholeBits-1:0] weight_exponent(input logic [WholeBits-1:0] whole,
                                                           input logic [ProductBits-1:0] product);
    logic [6:0] zeros;
    zeros = lpu_float_pkg::leading_zeros_128({product, {(128 - ProductBits){1'b0}}});
    weight_exponent = (whole == Lowest) ? Lowest : whole + WholeBits'(ProductBits - 1) - WholeBits'(zeros);
  endfunction

  logic [PowerBits-1:0]   power_s8 [SoftmaxLanes];
  logic [ScaleBits-1:0]   value_scale_s8 [SoftmaxLanes];
  logic [ProductBits-1:0] product_s9 [SoftmaxLanes];
  logic [ProductBits-1:0] product_s10 [SoftmaxLanes];
  always_ff @(posedge clk_i) begin
    for (int l = 0; l < SoftmaxLanes; l++) begin
      product_o[l*ProductBits+:ProductBits] <= product_s10[l];
      exponent_o[l*WholeBits+:WholeBits] <= weight_exponent(whole_s10[l*WholeBits+:WholeBits], product_s10[l]);
      product_s10[l] = product_s9[l];
      product_s9[l] = ProductBits'(power_s8[l]) * ProductBits'(value_scale_s8[l]);
      power_s8[l] = power[l*24+:PowerBits];
      value_scale_s8[l] = value_scale_s7[l*ScaleBits+:ScaleBits];
    end
    product_whole_o <= whole_s10;
  end
endmodule
