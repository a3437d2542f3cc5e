// The part z_b of one block in its row's denominator (docs/numbers.md §9): N_b, the largest n of the block, and the
// exact sum of T·2^(31 − (N_b − n)) over those at most 31 below it. Fed with the block's n; its T come four cycles
// later. Cycles after n: N_b 3, z_b 9 (the shift shares T's last cycle, then 32 terms by threes). Nothing to reset.
module lpu_softmax_part #(
  localparam int Values = lpu_pkg::BlockValues,
  localparam int WholeBits = 17,
  localparam int PowerBits = lpu_pkg::PowerBits,
  localparam int PartBits = PowerBits + lpu_pkg::SoftmaxDepth + 5
) (
  input  logic                        clk_i,
  input  logic [Values*WholeBits-1:0] whole_i,       // n, signed
  input  logic [Values*PowerBits-1:0] power_next_i,  // 4 cycles after whole_i: T before its register
  output logic [WholeBits-1:0]        largest_o,     // 3 cycles after whole_i: N_b
  output logic [PartBits-1:0]         part_o         // 9 cycles after whole_i: z_b
);
  localparam int TermBits = PowerBits + lpu_pkg::SoftmaxDepth;

  function automatic logic signed [WholeBits-1:0] larger(input logic signed [WholeBits-1:0] a,
                                                         input logic signed [WholeBits-1:0] b);
    larger = (a > b) ? a : b;
  endfunction
  // {counts, 31 − (N_b − n)}
  function automatic logic [5:0] shift(input logic signed [WholeBits-1:0] largest,
                                       input logic signed [WholeBits-1:0] whole);
    logic signed [WholeBits:0] depth;
    depth = (WholeBits + 1)'(largest) - (WholeBits + 1)'(whole);
    shift = {depth <= (WholeBits + 1)'(lpu_pkg::SoftmaxDepth), ~depth[4:0]};
  endfunction

  logic [WholeBits-1:0]        largest_s1 [8];
  logic [WholeBits-1:0]        largest_s2 [2];
  logic [Values*WholeBits-1:0] whole_s3;
  logic [5:0]                  shift_s4 [Values];
  logic [TermBits-1:0]         term_s5 [33];  // one more, zero, for the third of eleven
  logic [PartBits-1:0]         sum_s6 [12];
  logic [PartBits-1:0]         sum_s7 [4];
  logic [PartBits-1:0]         sum_s8 [2];

  lpu_delay #(.Width(Values * WholeBits), .Cycles(3)) u_wait (
    .clk_i, .rst_ni(1'b1), .value_i(whole_i), .value_o(whole_s3)
  );

  always_ff @(posedge clk_i) begin
    part_o <= sum_s8[0] + sum_s8[1];
    for (int i = 0; i < 2; i++) sum_s8[i] = sum_s7[2*i] + sum_s7[2*i+1];
    for (int i = 0; i < 4; i++) sum_s7[i] = sum_s6[3*i] + sum_s6[3*i+1] + sum_s6[3*i+2];
    for (int i = 0; i < 11; i++)
      sum_s6[i] = PartBits'(term_s5[3*i]) + PartBits'(term_s5[3*i+1]) + PartBits'(term_s5[3*i+2]);
    sum_s6[11] = '0;
    for (int j = 0; j < Values; j++) begin
      term_s5[j] = shift_s4[j][5] ? TermBits'(power_next_i[j*PowerBits+:PowerBits]) << shift_s4[j][4:0] : '0;
      shift_s4[j] = shift(largest_o, whole_s3[j*WholeBits+:WholeBits]);
    end
    term_s5[32] = '0;
    largest_o <= larger(largest_s2[0], largest_s2[1]);
    for (int i = 0; i < 2; i++) begin
      largest_s2[i] = larger(larger(largest_s1[4*i], largest_s1[4*i+1]), larger(largest_s1[4*i+2], largest_s1[4*i+3]));
    end
    for (int i = 0; i < 8; i++) begin
      largest_s1[i] = larger(larger(whole_i[(4*i)*WholeBits+:WholeBits], whole_i[(4*i+1)*WholeBits+:WholeBits]),
                             larger(whole_i[(4*i+2)*WholeBits+:WholeBits], whole_i[(4*i+3)*WholeBits+:WholeBits]));
    end
  end
endmodule
