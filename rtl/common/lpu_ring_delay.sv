// A wide value, so many cycles later: what a chain of registers does, as a small ring memory.
// It exists because wide side values (scales, V's scales) wait beside long pipelines: a ring is one write and one read
// a cycle for distributed RAM and for simulation, where a chain (lpu_delay) moves every stage.
// Relies on nothing; after reset the first `Cycles` outputs are whatever the memory held.
module lpu_ring_delay #(
  parameter int Width = 8,
  parameter int Cycles = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] value_i,
  output logic [Width-1:0] value_o
);
  if (Width < 1 || Cycles < 2) begin : gen_check
    $error("lpu_ring_delay: Width must be at least 1, Cycles at least 2");
  end

  localparam int Places = Cycles - 1;
  localparam int PlaceBits = (Places > 1) ? $clog2(Places) : 1;
  // Read and written at one place in every cycle: the read sees the old value (distributed RAM reads at once).
  (* ram_style = "distributed" *)
  logic [Width-1:0] ring[Places];
  logic [PlaceBits-1:0] place_q;
  always_ff @(posedge clk_i) begin
    value_o <= ring[place_q];
    ring[place_q] <= value_i;
    if (!rst_ni || place_q == PlaceBits'(Places - 1)) place_q <= '0;
    else place_q <= place_q + 1'b1;
  end
endmodule
