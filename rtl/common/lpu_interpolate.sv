// A function by a table of lines (docs/numbers.md §5): y = base[i] + ((slope[i]·rest + half) >> RestBits).
// An argument a lane and cycle, TableCycles = 5 later its value: look-up 2 (the memory and its output register),
// multiply 2, add 1. With ComplementOf ≠ 0, lanes that ask for it get ComplementOf − y in the same time.
// Points: a table of lpu_tables_pkg. Relies on that package; nothing to reset.
module lpu_interpolate #(
  parameter int Lanes = 1,
  parameter int Entries = 128,
  parameter int RestBits = 9,
  parameter int ComplementOf = 0,
  parameter int BaseBits = lpu_tables_pkg::BaseBits,
  parameter int SlopeBits = lpu_tables_pkg::SlopeBits,
  parameter logic [Entries*(BaseBits+SlopeBits)-1:0] Points = '0
) (
  input  logic                              clk_i,
  input  logic [Lanes*$clog2(Entries)-1:0]  index_i,
  input  logic [Lanes*RestBits-1:0]         rest_i,
  input  logic [Lanes-1:0]                  complement_i,
  output logic [Lanes*BaseBits-1:0]         next_o,   // what result_o becomes with the coming edge
  output logic [Lanes*BaseBits-1:0]         result_o
);
  localparam int IndexBits = $clog2(Entries);
  localparam int PointBits = BaseBits + SlopeBits;
  localparam int ProductBits = SlopeBits + RestBits;
  localparam logic [BaseBits-1:0] Complement = BaseBits'(ComplementOf);
  localparam logic signed [ProductBits:0] Half = (ProductBits + 1)'(1) << (RestBits - 1);

  if (Entries != 1 << IndexBits) $error("lpu_interpolate: Entries must be a power of two");

  // No write port: a ROM in every technology.
  logic [PointBits-1:0] points_q [Entries];
  initial begin
    for (int i = 0; i < Entries; i++) points_q[i] = Points[i*PointBits+:PointBits];
  end

  function automatic logic [BaseBits-1:0] summed(input logic [BaseBits-1:0] base,
                                                 input logic signed [ProductBits-1:0] product, input logic complement);
    logic signed [ProductBits:0] term;
    term = ((ProductBits + 1)'(product) + Half) >>> RestBits;
    summed = complement ? base - BaseBits'(term) : base + BaseBits'(term);
  endfunction

  logic [PointBits-1:0]          point_s1 [Lanes];
  logic [PointBits-1:0]          point_s2 [Lanes];
  logic [RestBits-1:0]           rest_s1 [Lanes];
  logic [RestBits-1:0]           rest_s2 [Lanes];
  logic signed [ProductBits-1:0] product_s3 [Lanes];
  logic [BaseBits-1:0]           base_s3 [Lanes];
  logic [2:0]                    complement_q [Lanes];
  // Stage 4 is packed: the sum is also wanted before its register.
  logic [Lanes*ProductBits-1:0]  product_s4_q;
  logic [Lanes*BaseBits-1:0]     base_s4_q;
  logic [Lanes-1:0]              complement_s4_q;

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      next_o[l*BaseBits+:BaseBits] =
          summed(base_s4_q[l*BaseBits+:BaseBits], product_s4_q[l*ProductBits+:ProductBits], complement_s4_q[l]);
    end
  end

  always_ff @(posedge clk_i) begin
    result_o <= next_o;
    for (int l = 0; l < Lanes; l++) begin
      product_s4_q[l*ProductBits+:ProductBits] <= product_s3[l];
      base_s4_q[l*BaseBits+:BaseBits] <= complement_q[l][2] ? Complement - base_s3[l] : base_s3[l];
      complement_s4_q[l] <= complement_q[l][2];

      product_s3[l] = $signed(point_s2[l][SlopeBits-1:0]) * $signed({1'b0, rest_s2[l]});
      base_s3[l] = point_s2[l][PointBits-1:SlopeBits];

      point_s2[l] = point_s1[l];
      rest_s2[l] = rest_s1[l];

      point_s1[l] = points_q[index_i[l*IndexBits+:IndexBits]];
      rest_s1[l] = rest_i[l*RestBits+:RestBits];
      complement_q[l] = {complement_q[l][1:0], (ComplementOf != 0) && complement_i[l]};
    end
  end
endmodule
