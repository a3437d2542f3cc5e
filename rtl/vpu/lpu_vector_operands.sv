// What a slice enters the vector unit with, by the kind of its instruction (the table in docs/units/vector_unit.md):
// sums from the accumulators or the embedding, the rows' exponents, what is added to them, and the scale. Everything is
// there in the entry's cycle; this only picks. Combinational. Relies on lpu_pkg.
module lpu_vector_operands #(
  parameter int Lanes = 4,
  parameter int VectorLanes = 2,
  localparam int SumBits = lpu_pkg::AccumulatorBits,
  localparam int RowBits = lpu_pkg::RowExponentBits,
  localparam int LaneBits = $clog2(Lanes),
  localparam int Slices = Lanes / VectorLanes,
  localparam int SliceBits = (Slices > 1) ? $clog2(Slices) : 1
) (
  input  logic [3:0]                     kind_i,
  input  logic                           embed_select_i,
  input  logic [SliceBits-1:0]           exponent_slice_i,
  input  logic [LaneBits-1:0]            grid_lane_i,
  input  logic                           scale_register_i,
  input  logic [VectorLanes*SumBits-1:0] sums_i,
  input  logic [VectorLanes*SumBits-1:0] embed_sum_i,
  input  logic [RowBits-1:0]             embed_row_exponent_i,
  input  logic [Lanes*RowBits-1:0]       exponent_word_i,
  input  logic [Lanes*RowBits-1:0]       grid_word_i,
  input  logic [63:0]                    scales_i,             // {register 1, register 0}
  input  logic [5:0]                     difference_i,         // E − N of (round, segment): 16…32
  input  logic [31:0]                    inverse_i,            // 1/z
  output logic [VectorLanes*SumBits-1:0] sum_o,
  output logic [VectorLanes*RowBits-1:0] row_exponent_o,
  output logic [9:0]                     exponent_offset_o,    // signed
  output logic [RowBits-1:0]             grid_o,
  output logic [31:0]                    scale_o
);
  // Units of sums over activation blocks, of embedding terms, and of weighted sums (docs/numbers.md §4, §9).
  localparam int RowOffset = lpu_pkg::WindowLow - lpu_pkg::MinimumFractionBits;
  localparam int EmbedOffset = -lpu_pkg::MinimumFractionBits;
  localparam int MixOffset = 2 * lpu_pkg::SoftmaxDepth - (lpu_pkg::MantissaBits - 2) - (lpu_pkg::WindowBinades - 1) -
                             lpu_pkg::MinimumFractionBits;

  logic is_mix;
  assign is_mix = kind_i == 4'(lpu_pkg::OpcodeMix);
  assign sum_o = embed_select_i ? embed_sum_i : sums_i;
  assign grid_o = grid_word_i[32'(grid_lane_i)*RowBits+:RowBits];
  assign scale_o = is_mix ? inverse_i : scale_register_i ? scales_i[63:32] : scales_i[31:0];
  always_comb begin
    if (embed_select_i) begin
      row_exponent_o = {VectorLanes{embed_row_exponent_i}};
      exponent_offset_o = 10'(EmbedOffset);
    end else if (is_mix) begin
      row_exponent_o = {VectorLanes{grid_o}};
      exponent_offset_o = 10'(MixOffset) + 10'(difference_i);
    end else begin
      row_exponent_o = exponent_word_i[32'(exponent_slice_i)*VectorLanes*RowBits+:VectorLanes*RowBits];
      exponent_offset_o = 10'(RowOffset);
    end
  end
endmodule
