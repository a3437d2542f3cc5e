// A memory with one write port and one read port, portable model: every memory of one writer and one reader is this
// one, so that a device's own cells have one place to go.
// Written parts (`PartBits` each) are chosen by a mask. A read takes one cycle, or two with `OutputRegister`.
// Relies on reads and writes never meeting at one address in a cycle, which an assertion watches, unless `ReadsOld`:
// then the read sees the value before the write.
// `memory` may be filled from outside in simulation: a bundle's sections go in as they lie in their files.
module lpu_ram_1r1w #(
  parameter int Width = 32,
  parameter int Depth = 16,
  parameter int PartBits = Width,
  parameter bit OutputRegister = 1'b0,
  parameter bit ReadsOld = 1'b0,
  localparam int Parts = Width / PartBits,
  localparam int AddressBits = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                   clk_i,
  input  logic [Parts-1:0]       write_i,          // mask of parts
  input  logic [AddressBits-1:0] write_address_i,
  input  logic [Width-1:0]       write_data_i,
  input  logic                   read_i,           // low: the array's output keeps its value
  input  logic [AddressBits-1:0] read_address_i,
  output logic [Width-1:0]       read_data_o
);
  if (Width < 1 || Depth < 1 || PartBits < 1 || Width % PartBits != 0) begin : gen_check
    $error("lpu_ram_1r1w: PartBits must divide Width, Depth must be at least 1");
  end

  logic [Width-1:0] array_q;

`ifndef SYNTHESIS
  // Simulators write a whole word at once: a loop of part writes would be unrolled, and compiled for each part.
  function automatic logic [Width-1:0] merge(input logic [Width-1:0] old, input logic [Width-1:0] fresh,
                                             input logic [Parts-1:0] mask);
    merge = old;
    for (int part = 0; part < Parts; part++)
      if (mask[part]) merge[part*PartBits+:PartBits] = fresh[part*PartBits+:PartBits];
  endfunction
`endif

  if (ReadsOld) begin : gen_reads_old
    logic [Width-1:0] memory[Depth]  /*verilator public_flat_rw*/;
    always_ff @(posedge clk_i) begin
      if (read_i) array_q <= memory[read_address_i];
`ifdef SYNTHESIS
      for (int part = 0; part < Parts; part++)
        if (write_i[part]) memory[write_address_i][part*PartBits+:PartBits] <= write_data_i[part*PartBits+:PartBits];
`else
      if (|write_i) memory[write_address_i] <= merge(memory[write_address_i], write_data_i, write_i);
`endif
    end
  end else begin : gen_plain
    (* no_rw_check *)
    logic [Width-1:0] memory[Depth]  /*verilator public_flat_rw*/;
    always_ff @(posedge clk_i) begin
      if (read_i) array_q <= memory[read_address_i];
`ifdef SYNTHESIS
      for (int part = 0; part < Parts; part++)
        if (write_i[part]) memory[write_address_i][part*PartBits+:PartBits] <= write_data_i[part*PartBits+:PartBits];
`else
      if (|write_i) memory[write_address_i] <= merge(memory[write_address_i], write_data_i, write_i);
`endif
    end
`ifndef SYNTHESIS
    always_ff @(posedge clk_i)
      assert (!(read_i && (|write_i) && read_address_i == write_address_i))
      else $error("%m: read and write meet at address %0d", read_address_i);
`endif
  end

  if (OutputRegister) begin : gen_output_register
    always_ff @(posedge clk_i) read_data_o <= array_q;
  end else begin : gen_array_output
    assign read_data_o = array_q;
  end
endmodule
