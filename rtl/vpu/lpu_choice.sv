// The next token: the id of the greatest logit, or, of a sampled token, that of the greatest key. Both are running
// choices: one comes at the end of every kLogits, the last one is the token's. The greatest logit is there four cycles
// earlier and waits for the key, so that every token is known in the same cycle: 20 after the last entry, in the
// register 21, in time for the row of the next token's embedding (lpu_pkg::LogitCycles).
// Relies on lpu_delay.
module lpu_choice (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        token_start_i,
  input  logic        samples_i,
  input  logic        best_valid_i,    // 16 cycles after an entry that ends
  input  logic [19:0] best_id_i,
  input  logic        sample_valid_i,  // 20 cycles after it
  input  logic [19:0] sample_id_i,
  output logic        next_valid_o,    // a choice of this token: 21 cycles after it, until the next token starts
  output logic [23:0] next_token_o,    // the newest one
  output logic        next_write_o,    // it is new in this cycle
  output logic        landed_o         // it counts as readable in the cycle after this one
);
  localparam int WaitCycles = 4;     // the product with 1/τ
  localparam int ChoiceCycles = 20;

  logic        best_valid;
  logic [19:0] best_id;
  lpu_delay #(.Cycles(WaitCycles), .HasReset(1'b1)) u_best_valid (
    .clk_i, .rst_ni, .value_i(best_valid_i), .value_o(best_valid)
  );
  lpu_delay #(.Width(20), .Cycles(WaitCycles)) u_best_id (
    .clk_i, .rst_ni(1'b1), .value_i(best_id_i), .value_o(best_id)
  );

  logic chooses;
  assign chooses = samples_i ? sample_valid_i : best_valid;
  always_ff @(posedge clk_i) begin
    next_write_o <= rst_ni && chooses;
    if (!rst_ni || token_start_i) next_valid_o <= 1'b0;
    else if (chooses) next_valid_o <= 1'b1;
    if (chooses) next_token_o <= {4'd0, samples_i ? sample_id_i : best_id};
  end
  lpu_delay #(.Cycles(lpu_pkg::LogitCycles - 1 - ChoiceCycles), .HasReset(1'b1)) u_landed (
    .clk_i, .rst_ni, .value_i(chooses), .value_o(landed_o)
  );
endmodule
