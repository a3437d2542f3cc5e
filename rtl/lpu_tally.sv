// What the machine says of its own work: how many cycles each token really took, its busy beats, whether anything
// saturated. A token's cycles are measured, not looked up: the last cycle in which anything that it made became
// readable, counted from its start. Where that isn't the length that the program declares, it is an error: the next
// token would begin at a wrong time (docs/isa.md, "A program and its time").
// Relies on strobes of every unit that come one cycle before their result can be read.
module lpu_tally (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        token_start_i,       // in the token's first cycle
  input  logic        token_end_i,         // in the first cycle after it: a start, too, where tokens follow at once
  input  logic        landed_i,            // something can be read from the next cycle on
  input  logic        beat_i,
  input  logic        saturated_i,         // some number on its way was clamped
  output logic        result_push_o,       // the token that has ended, if its length was right
  output logic [31:0] result_cycles_o,
  output logic [31:0] result_busy_beats_o,
  output logic        result_saturated_o,
  output logic [7:0]  error_o              // a lpu_pkg::Error… for a cycle
);
  logic        runs_q;
  logic [31:0] age_q;                      // cycles since the token's start, from its second cycle on
  logic [31:0] last_q;
  logic [31:0] beats_q;
  logic        saturated_q;

  logic [31:0] age;
  assign age = token_start_i ? 32'd0 : age_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) runs_q <= 1'b0;
    else if (token_start_i) runs_q <= 1'b1;
    else if (token_end_i) runs_q <= 1'b0;
    age_q <= age + 32'd1;
    if (token_start_i) begin
      last_q <= 32'd0;
      beats_q <= {31'd0, beat_i};
      saturated_q <= 1'b0;
    end else begin
      if (landed_i) last_q <= age + 32'd1;
      beats_q <= beats_q + {31'd0, beat_i};
      saturated_q <= saturated_q || saturated_i;
    end
  end

  // In the first cycle after a token the registers still hold it.
  logic wrong_length;
  // A token too long for its declared length shows afterwards: something lands, or a beat is issued, while no token runs,
  // or so early in the next one that it can't be its own.
  logic too_late;
  assign wrong_length = token_end_i && runs_q && last_q != age_q;
  assign too_late = (!runs_q && !token_start_i && (landed_i || beat_i)) ||
                    (landed_i && age < 32'(lpu_pkg::EmbedFetchCycles + lpu_pkg::ResidualCycles - lpu_pkg::WriteCycles)) ||
                    (beat_i && age < 32'(lpu_pkg::IssueLeadCycles));
  assign result_push_o = token_end_i && runs_q && !wrong_length;
  assign result_cycles_o = last_q;
  assign result_busy_beats_o = beats_q;
  assign result_saturated_o = saturated_q || saturated_i;
  assign error_o = (wrong_length || too_late) ? 8'(lpu_pkg::ErrorLength) : 8'(lpu_pkg::ErrorNone);
endmodule
