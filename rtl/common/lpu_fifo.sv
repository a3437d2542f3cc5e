// A small queue, first in, first out: commands, results and other things that wait. The oldest entry is on data_o
// whenever there is one (the array reads at once: distributed RAM), and goes with pop_i.
// Relies on nothing: a push into a queue that stays full and a pop from an empty one do nothing.
module lpu_fifo #(
  parameter int Width = 8,
  parameter int Depth = 16,
  localparam int PlaceBits = $clog2(Depth)
) (
  input  logic               clk_i,
  input  logic               rst_ni,     // empties it
  input  logic               push_i,
  input  logic [Width-1:0]   data_i,
  input  logic               pop_i,
  output logic [Width-1:0]   data_o,     // the oldest entry; only where count_o isn't zero
  output logic [PlaceBits:0] count_o,
  output logic               full_o      // and nothing is taken in this cycle: a push would be lost
);
  if (Width < 1 || Depth < 2 || Depth != 1 << PlaceBits) begin : gen_check
    $error("lpu_fifo: Depth must be a power of two, at least 2");
  end

  (* ram_style = "distributed" *)
  logic [Width-1:0]   entries[Depth];
  logic [PlaceBits:0] written_q, taken_q;  // counts modulo twice the depth
  assign count_o = written_q - taken_q;
  assign full_o = count_o[PlaceBits] && !pop_i;
  assign data_o = entries[taken_q[PlaceBits-1:0]];

  always_ff @(posedge clk_i) begin
    if (push_i && !full_o) entries[written_q[PlaceBits-1:0]] <= data_i;
    if (!rst_ni) begin
      written_q <= '0;
      taken_q <= '0;
    end else begin
      if (push_i && !full_o) written_q <= written_q + 1'b1;
      if (pop_i && count_o != '0) taken_q <= taken_q + 1'b1;
    end
  end
endmodule
