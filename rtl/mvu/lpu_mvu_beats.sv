// A burst's beats, one a cycle without gaps: row groups × column sets in either order, each 1 to 3 nibbles
// (docs/isa.md, "MVU: matvec"). A burst taken in cycle t − 1 has its beat k on the outputs in cycle t + k.
// Addresses are running sums, so that no beat needs a product. What it emits is stage 0 of lpu_mvu_pkg.
// Relies on a burst being taken at the earliest in the last beat's cycle of the one before (an assertion watches).
module lpu_mvu_beats #(
  parameter int Lanes = 4,
  parameter int AccumulatorEntries = 16
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                take_i,
  input  lpu_mvu_pkg::burst_t burst_i,
  output lpu_mvu_pkg::beat_t  beat_o,
  output logic [23:0]         word_address_o,
  output logic                minimum_read_o,
  output logic [23:0]         minimum_address_o,
  output logic [15:0]         activation_address_o,
  output logic [5:0]          round_o,
  output logic                residual_read_o,       // first beat of a row group whose sums start at the residual
  output logic [19:0]         residual_row_o,
  output logic [23:0]         exponent_address_o,
  output logic                inside_o               // a burst is taken before the one before has ended
);
  logic active_q;
  lpu_mvu_pkg::burst_t burst_q;
  logic [15:0] row_q, set_q;                              // r and c
  logic [1:0]  nibble_q;
  logic [23:0] word_q, block_word_q, outer_word_q;        // of this beat, of (r, c), of the outer loop's place
  logic [23:0] minimum_q, outer_minimum_q;
  logic [15:0] activation_q;
  logic [11:0] entry_q;
  logic [19:0] residual_row_q;
  logic [23:0] exponent_address_q;

  logic last_nibble, last_row, last_set, last_inner, last_outer, last_beat;
  assign last_nibble = nibble_q == burst_q.last_nibble;
  assign last_row = row_q == burst_q.last_row_group;
  assign last_set = set_q == burst_q.last_set;
  assign last_inner = burst_q.row_major ? last_set : last_row;
  assign last_outer = burst_q.row_major ? last_row : last_set;
  assign last_beat = last_nibble && last_inner && last_outer;

  logic [23:0] inner_step, outer_step, inner_minimum_step, outer_minimum_step;
  assign inner_step = burst_q.row_major ? burst_q.set_step : burst_q.row_step;
  assign outer_step = burst_q.row_major ? burst_q.row_step : burst_q.set_step;
  assign inner_minimum_step = burst_q.row_major ? burst_q.set_minimum_step : burst_q.row_minimum_step;
  assign outer_minimum_step = burst_q.row_major ? burst_q.row_minimum_step : burst_q.set_minimum_step;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (take_i) active_q <= 1'b1;
    else if (last_beat) active_q <= 1'b0;

    if (take_i) begin
      burst_q <= burst_i;
      {row_q, set_q, nibble_q} <= '0;
      {word_q, block_word_q, outer_word_q} <= {3{burst_i.weight_address}};
      {minimum_q, outer_minimum_q} <= {2{burst_i.minimum_address}};
      activation_q <= burst_i.activation_address;
      entry_q <= burst_i.accumulator;
      residual_row_q <= burst_i.residual_row;
      exponent_address_q <= burst_i.exponent_address;
    end else if (active_q) begin
      if (!last_nibble) begin
        nibble_q <= nibble_q + 2'd1;
        word_q <= word_q + 24'd1;
      end else begin
        nibble_q <= 2'd0;
        if (!last_inner) begin
          word_q <= block_word_q + inner_step;
          block_word_q <= block_word_q + inner_step;
          minimum_q <= minimum_q + inner_minimum_step;
        end else begin
          word_q <= outer_word_q + outer_step;
          block_word_q <= outer_word_q + outer_step;
          outer_word_q <= outer_word_q + outer_step;
          minimum_q <= outer_minimum_q + outer_minimum_step;
          outer_minimum_q <= outer_minimum_q + outer_minimum_step;
        end
        if (burst_q.row_major || last_inner) begin
          set_q <= last_inner && burst_q.row_major ? 16'd0 : set_q + 16'd1;
          activation_q <= last_inner && burst_q.row_major ? burst_q.activation_address : activation_q + 16'd1;
        end
        if (!burst_q.row_major || last_inner) begin
          if (last_inner && !burst_q.row_major) begin
            row_q <= 16'd0;
            entry_q <= burst_q.accumulator;  // the residual's places matter in the first set only: they run on
          end else begin
            row_q <= row_q + 16'd1;
            entry_q <= entry_q == 12'(AccumulatorEntries - 1) ? 12'd0 : entry_q + 12'd1;
            residual_row_q <= residual_row_q + 20'(Lanes);
            exponent_address_q <= exponent_address_q + 24'd1;
          end
        end
      end
    end
  end

  logic first_set;
  assign first_set = set_q == 16'd0;
  always_comb begin
    beat_o.valid = active_q;
    beat_o.nibble = nibble_q;
    beat_o.last_nibble = last_nibble;
    beat_o.signed_top = burst_q.signed_code && last_nibble;
    beat_o.signed_scale = burst_q.signed_scale;
    beat_o.has_minimum = burst_q.has_minimum;
    beat_o.unit_scale = burst_q.unit_scale;
    beat_o.keeps_value_scale = burst_q.keeps_value_scale && first_set;
    beat_o.relative_exponents = burst_q.relative_exponents;
    beat_o.segments = burst_q.segments;
    beat_o.entry = entry_q;
    beat_o.starts = burst_q.start && first_set;
    beat_o.adds_residual = burst_q.start && burst_q.adds_residual && first_set;
  end
  assign word_address_o = word_q;
  assign minimum_read_o = active_q && burst_q.has_minimum && nibble_q == 2'd0;
  assign minimum_address_o = minimum_q;
  assign activation_address_o = activation_q;
  assign round_o = burst_q.round;
  assign residual_read_o = active_q && beat_o.adds_residual && nibble_q == 2'd0;
  assign residual_row_o = residual_row_q;
  assign exponent_address_o = exponent_address_q;
  assign inside_o = take_i && active_q && !last_beat;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (rst_ni && take_i) begin
      assert (!active_q || last_beat) else $error("%m: a burst begins inside another");
      assert ({1'b0, burst_i.accumulator} < 13'(AccumulatorEntries)) else $error("%m: no entry %0d", burst_i.accumulator);
    end
`endif
endmodule
