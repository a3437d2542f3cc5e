// A memory with a reading port A and a port B that reads or writes, portable model of a true dual-port memory.
// Port A takes two cycles (array, output register), a read through port B one. Port B writes parts by a mask.
// Relies on port A never reading the address that port B writes in that cycle (an assertion watches).
// `memory` may be filled from outside in simulation: a bundle's weights go in as they lie in its image.
module lpu_ram_1r1rw #(
  parameter int Width = 32,
  parameter int Depth = 16,
  parameter int PartBits = Width,
  localparam int Parts = Width / PartBits,
  localparam int AddressBits = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                   clk_i,
  input  logic                   a_read_i,
  input  logic [AddressBits-1:0] a_address_i,
  output logic [Width-1:0]       a_data_o,       // two cycles after the address
  input  logic                   b_read_i,
  input  logic [Parts-1:0]       b_write_i,      // mask of parts; no read in the same cycle
  input  logic [AddressBits-1:0] b_address_i,
  input  logic [Width-1:0]       b_data_i,
  output logic [Width-1:0]       b_data_o        // one cycle after the address
);
  if (Width < 1 || Depth < 1 || PartBits < 1 || Width % PartBits != 0) begin : gen_check
    $error("lpu_ram_1r1rw: PartBits must divide Width, Depth must be at least 1");
  end

`ifndef SYNTHESIS
  // Simulators write a whole word at once: a loop of part writes would be unrolled, and compiled for each part.
  function automatic logic [Width-1:0] merge(input logic [Width-1:0] old, input logic [Width-1:0] fresh,
                                             input logic [Parts-1:0] mask);
    merge = old;
    for (int part = 0; part < Parts; part++)
      if (mask[part]) merge[part*PartBits+:PartBits] = fresh[part*PartBits+:PartBits];
  endfunction
`endif

  (* no_rw_check *)
  logic [Width-1:0] memory[Depth]  /*verilator public_flat_rw*/;
  logic [Width-1:0] a_array_q;

  always_ff @(posedge clk_i) begin
    if (a_read_i) a_array_q <= memory[a_address_i];
    a_data_o <= a_array_q;
  end
  always_ff @(posedge clk_i) begin
    if (b_read_i) b_data_o <= memory[b_address_i];
`ifdef SYNTHESIS
    for (int part = 0; part < Parts; part++)
      if (b_write_i[part]) memory[b_address_i][part*PartBits+:PartBits] <= b_data_i[part*PartBits+:PartBits];
`else
    if (|b_write_i) memory[b_address_i] <= merge(memory[b_address_i], b_data_i, b_write_i);
`endif
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    assert (!(a_read_i && (|b_write_i) && a_address_i == b_address_i))
    else $error("%m: port A reads address %0d while port B writes it", a_address_i);
    assert (!(b_read_i && (|b_write_i)))
    else $error("%m: port B reads and writes in one cycle");
  end
`endif
endmodule
