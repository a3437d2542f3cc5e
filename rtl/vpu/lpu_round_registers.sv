// The round registers (docs/isa.md, "Places"): of each round and segment the softmax row's largest exponent E, E − N
// and 1/z. The softmax unit writes all segments of a round at once; the MVU reads E of all segments, kMix E − N and 1/z
// of one. Reads are asynchronous. E and E − N are written in the cycle before they can be read; 1/z is on its port
// in the cycle in which it can be read first, so a read of that round takes it from there.
// Relies on nothing; nothing to reset: a schedule reads what was written.
module lpu_round_registers #(
  parameter int ColumnGroups = 2,
  localparam int ExponentBits = lpu_mvu_pkg::BlockExponentBits,
  localparam int DifferenceBits = 6,
  localparam int SegmentBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1
) (
  input  logic                                   clk_i,
  // from the softmax unit, by segment
  input  logic                                   round_write_i,
  input  logic [5:0]                             round_i,
  input  logic [ColumnGroups*ExponentBits-1:0]   exponents_i,
  input  logic [ColumnGroups*DifferenceBits-1:0] differences_i,
  input  logic                                   inverse_write_i,
  input  logic [5:0]                             inverse_round_i,
  input  logic [ColumnGroups*32-1:0]             inverses_i,
  // to the MVU: E of all segments
  input  logic [5:0]                             mvu_round_i,
  output logic [ColumnGroups*ExponentBits-1:0]   mvu_exponents_o,
  // to kMix: of one segment
  input  logic [5:0]                             vpu_round_i,
  input  logic [SegmentBits-1:0]                 vpu_segment_i,
  output logic [DifferenceBits-1:0]              vpu_difference_o,
  output logic [31:0]                            vpu_inverse_o
);
  if (lpu_pkg::MaxRounds != 64) $error("lpu_round_registers: a round's number has 6 bits");

  (* ram_style = "distributed" *) logic [ColumnGroups*ExponentBits-1:0]   exponents_q [lpu_pkg::MaxRounds];
  (* ram_style = "distributed" *) logic [ColumnGroups*DifferenceBits-1:0] differences_q [lpu_pkg::MaxRounds];
  (* ram_style = "distributed" *) logic [ColumnGroups*32-1:0]             inverses_q [lpu_pkg::MaxRounds];
  always_ff @(posedge clk_i) begin
    if (round_write_i) exponents_q[round_i] <= exponents_i;
    if (round_write_i) differences_q[round_i] <= differences_i;
    if (inverse_write_i) inverses_q[inverse_round_i] <= inverses_i;
  end
  assign mvu_exponents_o = exponents_q[mvu_round_i];

  logic [ColumnGroups*DifferenceBits-1:0] differences;
  logic [ColumnGroups*32-1:0]             inverses;
  assign differences = differences_q[vpu_round_i];
  assign inverses = (inverse_write_i && inverse_round_i == vpu_round_i) ? inverses_i : inverses_q[vpu_round_i];
  always_comb begin
    vpu_difference_o = '0;
    vpu_inverse_o = '0;
    for (int s = 0; s < ColumnGroups; s++) begin
      if (vpu_segment_i == SegmentBits'(s)) begin
        vpu_difference_o = differences[s*DifferenceBits+:DifferenceBits];
        vpu_inverse_o = inverses[s*32+:32];
      end
    end
  end
endmodule
