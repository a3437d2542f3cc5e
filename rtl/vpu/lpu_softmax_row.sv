// A row's largest exponent, E − N, and 1/Z (docs/numbers.md §9), for each segment its own; exact in any order of
// blocks. Z = Σ_b z_b·2^(31 − (N − N_b)) over the blocks at most 31 below the largest N, which is known only at the
// row's end. So the z_b are added up by N_b, in 32 buckets (N_b mod 32) of the window N − 31…N; when N grows, those
// that leave the window are emptied, which is what the definition does with them. At the end 32 buckets are one sum:
// bucket i counts 2^i, or 2^(i + 32) where i < (N + 1) mod 32, all times 2^−((N + 1) mod 32), which goes into the
// conversion. Cycles (after a block's last entry): z_b and N_b come at 11, E_b at 14. After the instruction's last
// entry: row_valid_o at 17, inverse_valid_o at 25, both with the values of all segments. Relies on lpu_convert,
// lpu_reciprocal.
module lpu_softmax_row #(
  parameter int Blocks = 1,     // that come in one cycle
  parameter int Segments = 2,
  localparam int SegmentBits = (Segments > 1) ? $clog2(Segments) : 1,
  localparam int WholeBits = 17,
  localparam int PartBits = lpu_pkg::PowerBits + lpu_pkg::SoftmaxDepth + 5,
  localparam int DifferenceBits = 6
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // cycle 11
  input  logic [Blocks-1:0]             part_valid_i,
  input  logic [SegmentBits-1:0]        part_segment_i,
  input  logic                          part_starts_i,     // with the row's first blocks
  input  logic                          part_row_end_i,    // the row's last entry, with or without a block
  input  logic                          part_end_i,        // the instruction's last entry
  input  logic [Blocks*WholeBits-1:0]   part_whole_i,      // N_b
  input  logic [Blocks*PartBits-1:0]    part_i,            // z_b
  // cycle 14
  input  logic [Blocks-1:0]             exponent_valid_i,
  input  logic [SegmentBits-1:0]        exponent_segment_i,
  input  logic                          exponent_starts_i,
  input  logic [Blocks*WholeBits-1:0]   exponent_i,        // E_b
  output logic                          row_valid_o,
  output logic [Segments*WholeBits-1:0] exponent_o,        // E, signed
  output logic [Segments*DifferenceBits-1:0] difference_o, // E − N, 16…32
  output logic                          inverse_valid_o,
  output logic [Segments*32-1:0]        inverse_o
);
  localparam int Buckets = lpu_pkg::SoftmaxDepth + 1;
  localparam int BucketBits = PartBits + 11;  // 2^11 blocks a row
  localparam int TotalBits = BucketBits + 2 * Buckets - 1;
  localparam int Wide = WholeBits + 1;
  localparam logic signed [Wide-1:0] Depth = Wide'(lpu_pkg::SoftmaxDepth);

  if (Blocks < 1 || Blocks > 2) $error("lpu_softmax_row: Blocks must be 1 or 2");
  if (Buckets != 32) $error("lpu_softmax_row: buckets are numbered by five bits");

  // The larger of what a row had and the blocks that come, as many as are valid.
  function automatic logic signed [WholeBits-1:0] grown(input logic signed [WholeBits-1:0] previous, input logic starts,
                                                        input logic [Blocks-1:0] valid,
                                                        input logic [Blocks*WholeBits-1:0] come);
    logic signed [WholeBits-1:0] most;
    logic signed [WholeBits-1:0] one;
    most = starts ? {1'b1, {(WholeBits - 1) {1'b0}}} : previous;
    for (int b = 0; b < Blocks; b++) begin
      one = come[b*WholeBits+:WholeBits];
      if (valid[b] && one > most) most = one;
    end
    grown = most;
  endfunction

  // ---- cycle 12: buckets
  logic [Segments*Buckets*BucketBits-1:0] buckets_q;
  logic [Segments*WholeBits-1:0]          whole_q;
  logic [WholeBits-1:0]                   whole_previous;
  logic [WholeBits-1:0]                   whole_now;
  logic [Wide-1:0]                        growth;
  always_comb begin
    whole_previous = '0;
    for (int s = 0; s < Segments; s++) begin
      if (part_segment_i == SegmentBits'(s)) whole_previous = whole_q[s*WholeBits+:WholeBits];
    end
    whole_now = grown(whole_previous, part_starts_i, part_valid_i, part_whole_i);
    growth = Wide'($signed(whole_now)) - Wide'($signed(whole_previous));
  end

  // Whether bucket i holds what is left of an N that is now out of the window.
  function automatic logic is_stale(input logic [4:0] bucket, input logic [4:0] previous, input logic [Wide-1:0] grows);
    logic [4:0] ahead;
    ahead = bucket - previous - 5'd1;
    is_stale = Wide'(ahead) < grows;
  endfunction
  function automatic logic is_in_window(input logic signed [WholeBits-1:0] now, input logic signed [WholeBits-1:0] own);
    is_in_window = Wide'(now) - Wide'(own) <= Depth;
  endfunction

  logic [Blocks-1:0] adds;
  always_comb begin
    for (int b = 0; b < Blocks; b++)
      adds[b] = part_valid_i[b] && is_in_window(whole_now, part_whole_i[b*WholeBits+:WholeBits]);
  end

  function automatic logic [BucketBits-1:0] added(input logic [BucketBits-1:0] previous, input logic [4:0] bucket,
                                                  input logic [Blocks-1:0] valid,
                                                  input logic [Blocks*WholeBits-1:0] wholes,
                                                  input logic [Blocks*PartBits-1:0] parts);
    logic [BucketBits-1:0] sum;
    sum = previous;
    for (int b = 0; b < Blocks; b++)
      if (valid[b] && wholes[b*WholeBits+:5] == bucket) sum = sum + BucketBits'(parts[b*PartBits+:PartBits]);
    added = sum;
  endfunction

  always_ff @(posedge clk_i) begin
    for (int s = 0; s < Segments; s++) begin
      if (part_segment_i == SegmentBits'(s) && (part_valid_i != '0)) begin
        whole_q[s*WholeBits+:WholeBits] <= whole_now;
        for (int i = 0; i < Buckets; i++) begin
          buckets_q[(s*Buckets+i)*BucketBits+:BucketBits] <=
              added((part_starts_i || is_stale(5'(i), whole_previous[4:0], growth)) ? '0
                        : buckets_q[(s*Buckets+i)*BucketBits+:BucketBits],
                    5'(i), adds, part_whole_i, part_i);
        end
      end
    end
  end

  // ---- cycles 13…16: one sum; then 1/Z
  logic                          row_end_s12;
  logic                          end_s12;
  logic [SegmentBits-1:0]        segment_s12;
  logic [Buckets*BucketBits-1:0] buckets_s12;
  logic [DifferenceBits-1:0]     whole_s12;  // low bits of N
  logic [4:0]                    low_s12;   // buckets below it count 2^32 more
  lpu_delay #(.Width(2 + SegmentBits), .Cycles(1), .HasReset(1'b1)) u_end (
    .clk_i, .rst_ni, .value_i({part_row_end_i, part_end_i, part_segment_i}),
    .value_o({row_end_s12, end_s12, segment_s12})
  );
  always_comb begin
    buckets_s12 = '0;
    whole_s12 = '0;
    for (int s = 0; s < Segments; s++) begin
      if (segment_s12 == SegmentBits'(s)) begin
        buckets_s12 = buckets_q[s*Buckets*BucketBits+:Buckets*BucketBits];
        whole_s12 = whole_q[s*WholeBits+:DifferenceBits];
      end
    end
    low_s12 = whole_s12[4:0] + 5'd1;
  end

  function automatic logic [TotalBits-1:0] weighed(input logic [BucketBits-1:0] bucket, input logic [4:0] index,
                                                   input logic [4:0] low);
    weighed = (index < low) ? {TotalBits'(bucket) << 32} << index : TotalBits'(bucket) << index;
  endfunction

  logic [TotalBits-1:0] sum_s13 [12];
  logic [TotalBits-1:0] sum_s14 [4];
  logic [TotalBits-1:0] sum_s15 [2];
  logic [TotalBits-1:0] sum_s16_q;
  always_ff @(posedge clk_i) begin
    sum_s16_q <= sum_s15[0] + sum_s15[1];
    for (int i = 0; i < 2; i++) sum_s15[i] = sum_s14[2*i] + sum_s14[2*i+1];
    for (int i = 0; i < 4; i++) sum_s14[i] = sum_s13[3*i] + sum_s13[3*i+1] + sum_s13[3*i+2];
    for (int i = 0; i < 11; i++) begin
      sum_s13[i] = weighed(buckets_s12[3*i*BucketBits+:BucketBits], 5'(3 * i), low_s12) +
                   weighed(buckets_s12[(3*i+1)*BucketBits+:BucketBits], 5'(3 * i + 1), low_s12) +
                   ((3 * i + 2 < Buckets)
                        ? weighed(buckets_s12[((3*i+2)%Buckets)*BucketBits+:BucketBits], 5'(3 * i + 2), low_s12) : '0);
    end
    sum_s13[11] = '0;
  end

  logic [4:0]             low_s16;
  logic [31:0]            total;
  logic [31:0]            inverse;
  logic                   unused_saturated;
  logic                   row_end_s25;
  logic [SegmentBits-1:0] segment_s25;
  localparam int SumCycles = 4;
  localparam int InverseCycles = SumCycles + lpu_pkg::ConvertCycles + lpu_pkg::TableCycles;
  if (12 + InverseCycles != lpu_pkg::ReciprocalCycles) $error("lpu_softmax_row: stages disagree with ReciprocalCycles");
  lpu_delay #(.Width(5), .Cycles(SumCycles)) u_low (
    .clk_i, .rst_ni(1'b1), .value_i(low_s12), .value_o(low_s16)
  );
  // Below 2^126: a convertible sum with its sign.
  lpu_convert #(.SumBits(TotalBits)) u_total (
    .clk_i, .sum_i(sum_s16_q), .exponent_i(10'd0 - {5'd0, low_s16}), .result_o(total), .saturated_o(unused_saturated)
  );
  lpu_reciprocal u_inverse (.clk_i, .value_i(total), .result_o(inverse));
  lpu_delay #(.Width(2 + SegmentBits), .Cycles(InverseCycles), .HasReset(1'b1)) u_inverse_end (
    .clk_i, .rst_ni, .value_i({row_end_s12, end_s12, segment_s12}),
    .value_o({row_end_s25, inverse_valid_o, segment_s25})
  );
  // Rows that ended earlier wait for the instruction's end.
  logic [Segments*32-1:0] inverse_q;
  always_comb begin
    inverse_o = inverse_q;
    for (int s = 0; s < Segments; s++)
      if (row_end_s25 && segment_s25 == SegmentBits'(s)) inverse_o[s*32+:32] = inverse;
  end
  always_ff @(posedge clk_i) inverse_q <= inverse_o;

  // ---- cycle 15: E; 17: E and E − N of the rows that ended
  logic [Segments*WholeBits-1:0] exponent_q;
  always_ff @(posedge clk_i) begin
    for (int s = 0; s < Segments; s++) begin
      if (exponent_segment_i == SegmentBits'(s) && (exponent_valid_i != '0)) begin
        exponent_q[s*WholeBits+:WholeBits] <=
            grown(exponent_q[s*WholeBits+:WholeBits], exponent_starts_i, exponent_valid_i, exponent_i);
      end
    end
  end
  logic                      row_end_s15;
  logic                      end_s15;
  logic [SegmentBits-1:0]    segment_s15;
  logic [DifferenceBits-1:0] whole_s15;
  lpu_delay #(.Width(2 + SegmentBits), .Cycles(3), .HasReset(1'b1)) u_exponent_end (
    .clk_i, .rst_ni, .value_i({row_end_s12, end_s12, segment_s12}), .value_o({row_end_s15, end_s15, segment_s15})
  );
  lpu_delay #(.Width(DifferenceBits), .Cycles(3)) u_whole (
    .clk_i, .rst_ni(1'b1), .value_i(whole_s12), .value_o(whole_s15)
  );
  lpu_delay #(.Cycles(lpu_pkg::SoftmaxRowCycles - 1 - 15), .HasReset(1'b1)) u_row_valid (
    .clk_i, .rst_ni, .value_i(end_s15), .value_o(row_valid_o)
  );
  // Taken at once, since the next row may grow from now on, and kept a cycle, since its E may come a cycle later.
  logic                      row_end_s16;
  logic [SegmentBits-1:0]    segment_s16;
  logic [WholeBits-1:0]      exponent_s15;
  logic [WholeBits-1:0]      exponent_s16_q;
  logic [DifferenceBits-1:0] difference_s16_q;
  lpu_delay #(.Width(1 + SegmentBits), .Cycles(1), .HasReset(1'b1)) u_exponent_late (
    .clk_i, .rst_ni, .value_i({row_end_s15, segment_s15}), .value_o({row_end_s16, segment_s16})
  );
  always_comb begin
    exponent_s15 = '0;
    for (int s = 0; s < Segments; s++) begin
      if (segment_s15 == SegmentBits'(s)) exponent_s15 = exponent_q[s*WholeBits+:WholeBits];
    end
  end
  always_ff @(posedge clk_i) begin
    exponent_s16_q <= exponent_s15;
    difference_s16_q <= exponent_s15[DifferenceBits-1:0] - whole_s15;
    for (int s = 0; s < Segments; s++) begin
      if (row_end_s16 && segment_s16 == SegmentBits'(s)) begin
        exponent_o[s*WholeBits+:WholeBits] <= exponent_s16_q;
        difference_o[s*DifferenceBits+:DifferenceBits] <= difference_s16_q;
      end
    end
  end
endmodule
