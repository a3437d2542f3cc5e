// The choice of a token behind the front (docs/isa.md, kLogits; docs/numbers.md §11). The front's product is the logit.
// Greedy: the largest logit, 8 cycles after the last slice's product (two for its order, six in lpu_best).
// Sampled: the largest key RNE(logit · 1/τ · 2^16) + noise, 12 cycles after it (product 4, fixed point 1, noise 1,
// lpu_best 6).
// Ties go to the lowest id. The noise of a slice (lpu_gumbel) is wanted 5 cycles after the slice's product.
// Relies on lpu_best, lpu_multiply, lpu_float_pkg.
module lpu_chain_logits #(
  parameter int VectorLanes = 2,
  localparam int SampleKeyBits = 34
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      valid_i,
  input  logic                      start_i,  // the token's first slice
  input  logic                      end_i,    // the token's last slice
  input  logic [VectorLanes-1:0]    lanes_i,
  input  logic [19:0]               row_i,    // id of lane 0
  input  logic [VectorLanes*32-1:0] product_i,
  // constant while a token is chosen
  input  logic                      samples_i,
  input  logic [31:0]               inverse_temperature_i,
  // 5 cycles after the product
  input  logic [VectorLanes*32-1:0] noise_i,
  output logic                      best_valid_o,
  output logic [19:0]               best_id_o,
  output logic [31:0]               best_logit_o,
  output logic                      sample_valid_o,
  output logic [19:0]               sample_id_o,
  output logic [SampleKeyBits-1:0]  sample_key_o,  // signed
  output logic                      saturated_o
);
  localparam int ControlBits = 3 + VectorLanes + 20;
  localparam int KeyCycles = 2;
  localparam int OrderBits = 33;                  // {there, order of a logit}
  localparam int SampleBits = SampleKeyBits + 1;  // {there, key with its sign turned}

  // ---- greedy
  // Unsigned comparison is the comparison of logits, −0 equal to 0.
  function automatic logic [OrderBits-1:0] order(input logic [31:0] logit, input logic there);
    if (!there) order = '0;
    else if (logit[30:0] == 31'd0) order = {2'b11, 31'd0};
    else order = {1'b1, logit[31] ? ~logit : {1'b1, logit[30:0]}};
  endfunction

  logic [VectorLanes*OrderBits-1:0] orders;
  logic [VectorLanes*OrderBits-1:0] orders_late;
  logic [ControlBits-1:0]           control_order;
  logic [OrderBits-1:0]             best_order;
  always_comb begin
    for (int l = 0; l < VectorLanes; l++)
      orders[l*OrderBits+:OrderBits] = order(product_i[l*32+:32], lanes_i[l]);
  end
  lpu_delay #(.Width(VectorLanes * OrderBits), .Cycles(KeyCycles)) u_orders (
    .clk_i, .rst_ni(1'b1), .value_i(orders), .value_o(orders_late)
  );
  lpu_delay #(.Width(ControlBits), .Cycles(KeyCycles), .HasReset(1'b1)) u_control_order (
    .clk_i, .rst_ni, .value_i({valid_i, start_i, end_i, row_i, lanes_i}), .value_o(control_order)
  );
  lpu_best #(.VectorLanes(VectorLanes), .KeyBits(OrderBits)) u_best (
    .clk_i, .rst_ni, .valid_i(control_order[ControlBits-1]), .start_i(control_order[ControlBits-2]),
    .end_i(control_order[ControlBits-3]), .row_i(control_order[VectorLanes+:20]), .keys_i(orders_late),
    .best_valid_o, .best_id_o, .best_key_o(best_order)
  );
  assign best_logit_o = best_order[31] ? {1'b0, best_order[30:0]} : ~best_order[31:0];

  // ---- sampled
  // {saturated, RNE(x · 2^16) of 32 bits}
  function automatic logic [32:0] fixed(input logic [31:0] value);
    logic [7:0]  right;
    logic [31:0] whole;
    right = 8'd141 - value[30:23];
    whole = lpu_float_pkg::round_fixed(
        lpu_float_pkg::shift_to_fixed({1'b1, value[22:0]}, (value[30:23] < 8'd108) ? 6'd33 : right[5:0]));
    if (value[30:23] >= 8'd142) begin
      fixed = {!(value[31] && value[30:23] == 8'd142 && value[22:0] == 23'd0), value[31], {31{!value[31]}}};
    end else begin
      fixed = {1'b0, value[31] ? ~whole + 32'd1 : whole};
    end
  endfunction
  function automatic logic [SampleBits-1:0] sample(input logic signed [31:0] logit, input logic signed [31:0] noise,
                                                   input logic there);
    logic signed [SampleKeyBits-1:0] key;
    key = SampleKeyBits'(logit) + SampleKeyBits'(noise);
    sample = there ? {1'b1, !key[SampleKeyBits-1], key[SampleKeyBits-2:0]} : '0;
  endfunction

  logic [VectorLanes*32-1:0]         scaled;
  logic [VectorLanes-1:0]            scaled_saturated;
  logic [VectorLanes*32-1:0]         fixed_q;
  logic [VectorLanes-1:0]            fixed_saturated_q;
  logic [VectorLanes*SampleBits-1:0] samples_q;
  logic [ControlBits-1:0]            control_m;
  logic [ControlBits-1:0]            control_f;
  logic [ControlBits-1:0]            control_k;
  logic [SampleBits-1:0]             best_sample;
  lpu_multiply #(.Lanes(VectorLanes)) u_scaled (
    .clk_i, .a_i(product_i), .b_i({VectorLanes{inverse_temperature_i}}), .result_o(scaled),
    .saturated_o(scaled_saturated)
  );
  lpu_delay #(.Width(ControlBits), .Cycles(lpu_pkg::MultiplyCycles), .HasReset(1'b1)) u_control_m (
    .clk_i, .rst_ni, .value_i({valid_i, start_i, end_i, row_i, lanes_i}), .value_o(control_m)
  );
  lpu_delay #(.Width(ControlBits), .Cycles(1), .HasReset(1'b1)) u_control_f (
    .clk_i, .rst_ni, .value_i(control_m), .value_o(control_f)
  );
  lpu_delay #(.Width(ControlBits), .Cycles(1), .HasReset(1'b1)) u_control_k (
    .clk_i, .rst_ni, .value_i(control_f), .value_o(control_k)
  );
  always_ff @(posedge clk_i) begin
    for (int l = 0; l < VectorLanes; l++) begin
      {fixed_saturated_q[l], fixed_q[l*32+:32]} <= fixed(scaled[l*32+:32]);
      samples_q[l*SampleBits+:SampleBits] <= sample(fixed_q[l*32+:32], noise_i[l*32+:32], control_f[l]);
    end
  end
  lpu_best #(.VectorLanes(VectorLanes), .KeyBits(SampleBits)) u_sample (
    .clk_i, .rst_ni, .valid_i(control_k[ControlBits-1] && samples_i), .start_i(control_k[ControlBits-2]),
    .end_i(control_k[ControlBits-3]), .row_i(control_k[VectorLanes+:20]), .keys_i(samples_q),
    .best_valid_o(sample_valid_o), .best_id_o(sample_id_o), .best_key_o(best_sample)
  );
  assign sample_key_o = {!best_sample[SampleKeyBits-1], best_sample[SampleKeyBits-2:0]};
  assign saturated_o = samples_i && ((control_m[ControlBits-1] && scaled_saturated != '0) ||
                                     (control_f[ControlBits-1] && fixed_saturated_q != '0));

  logic unused_control;
  assign unused_control = ^{control_order, control_k, best_order, best_sample};
endmodule
