// A random number's Gumbel noise −ln(−ln u), u = (random | 1)·2^−32 (docs/numbers.md §11, hls/engine/gumbel.hpp): two
// logarithms and one product, 16 fraction bits. A number a lane and cycle, 16 cycles later its noise.
// Relies on lpu_log2, lpu_tables_pkg; nothing to reset.
module lpu_noise #(
  parameter int Lanes = 2
) (
  input  logic                clk_i,
  input  logic [Lanes*32-1:0] random_i,
  output logic [Lanes*32-1:0] noise_o   // signed
);
  localparam logic signed [32:0] Bias = 33'sd26 <<< 26;  // the first logarithm's unit
  localparam logic signed [50:0] Offset = 51'(lpu_tables_pkg::GumbelOffset) + (51'sd1 <<< 25);
  localparam logic signed [17:0] Factor = 18'(lpu_tables_pkg::GumbelFactor);

  logic [Lanes*32-1:0] odd;  // never zero
  assign odd = random_i | {Lanes{32'd1}};

  // ---- A = 32 − log2, at least one unit: 7 cycles; log2 of it: 6
  logic [Lanes*32-1:0] log_of_random;
  logic [Lanes*32-1:0] exponential_q;
  logic [Lanes*32-1:0] log_of_exponential;
  lpu_log2 #(.Lanes(Lanes)) u_first (.clk_i, .value_i(odd), .result_o(log_of_random));
  lpu_log2 #(.Lanes(Lanes)) u_second (.clk_i, .value_i(exponential_q), .result_o(log_of_exponential));
  function automatic logic [31:0] exponential(input logic [31:0] logarithm);
    exponential = (logarithm >= 32'h80000000) ? 32'd1 : 32'h80000000 - logarithm;
  endfunction

  // ---- offset − log · factor: 3 cycles
  function automatic logic [31:0] shifted_down(input logic [50:0] scaled);
    shifted_down = {{7{scaled[50]}}, scaled[50:26]};
  endfunction
  logic signed [32:0] log_s1 [Lanes];
  logic signed [50:0] product_s2 [Lanes];
  always_ff @(posedge clk_i) begin
    for (int l = 0; l < Lanes; l++) begin
      noise_o[l*32+:32] <= shifted_down(Offset - product_s2[l]);
      product_s2[l] = log_s1[l] * Factor;
      log_s1[l] = $signed({1'b0, log_of_exponential[l*32+:32]}) - Bias;
      exponential_q[l*32+:32] <= exponential(log_of_random[l*32+:32]);
    end
  end
endmodule
