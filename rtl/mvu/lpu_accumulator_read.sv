// One reader of one segment's accumulators: a copy of the accumulator memory that gives a slice of an entry's lanes.
// It exists because a memory has one read port: the sums are needed by the unit itself, by the vector unit and by the
// softmax unit, in cycles that no one coordinates.
// A request in cycle c − 2 gives in cycle c what "readable at c" says (docs/isa.md): writes of the last two cycles are
// forwarded past the memory. Without a request the output is zero, so that segments' outputs are joined by an OR.
module lpu_accumulator_read #(
  parameter int Lanes = 4,
  parameter int Planes = 2,         // of each lane's number; a row holds all lanes' plane 0, then all lanes' plane 1 …
  parameter int PlaneBits = 44,
  parameter int Entries = 16,
  parameter int ReadLanes = 2,
  localparam int LaneBits = Planes * PlaneBits,
  localparam int EntryBits = $clog2(Entries),
  localparam int Slices = Lanes / ReadLanes,
  localparam int SliceBits = (Slices > 1) ? $clog2(Slices) : 1
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          write_i,        // readable in the cycle after
  input  logic [EntryBits-1:0]          write_entry_i,
  input  logic [Lanes*LaneBits-1:0]     write_data_i,
  input  logic                          read_i,
  input  logic [EntryBits-1:0]          read_entry_i,
  input  logic [SliceBits-1:0]          read_slice_i,
  output logic [ReadLanes*LaneBits-1:0] read_data_o
);
  if (ReadLanes < 1 || Lanes % ReadLanes != 0) begin : gen_check
    $error("lpu_accumulator_read: ReadLanes must divide Lanes");
  end
  localparam int ReadBits = ReadLanes * LaneBits;

  logic meets;
  assign meets = write_i && write_entry_i == read_entry_i;

  logic [Lanes*LaneBits-1:0] row_q;
  lpu_ram_1r1w #(.Width(Lanes * LaneBits), .Depth(Entries)) u_memory (
    .clk_i,
    .write_i,
    .write_address_i(write_entry_i),
    .write_data_i,
    .read_i(read_i && !meets),
    .read_address_i(read_entry_i),
    .read_data_o(row_q)
  );

  function automatic logic [ReadBits-1:0] slice(input logic [Lanes*LaneBits-1:0] row,
                                                input logic [SliceBits-1:0] place);
    // By comparison: a computed place would be a multiplier and a shifter over the whole row.
    slice = '0;
    for (int one = 0; one < Slices; one++)
      if (Slices == 1 || place == SliceBits'(one))
        for (int read = 0; read < ReadLanes; read++)
          for (int plane = 0; plane < Planes; plane++)
            slice[(read*Planes+plane)*PlaneBits+:PlaneBits] = row[(plane*Lanes+one*ReadLanes+read)*PlaneBits+:PlaneBits];
  endfunction

  logic                 read_q;
  logic                 met_q;
  logic [EntryBits-1:0] entry_q;
  logic [SliceBits-1:0] slice_q;
  logic [ReadBits-1:0]  met_data_q;
  always_ff @(posedge clk_i) begin
    read_q <= read_i && rst_ni;
    met_q <= meets;
    entry_q <= read_entry_i;
    slice_q <= read_slice_i;
    if (read_i && meets) met_data_q <= slice(write_data_i, read_slice_i);
    if (!read_q) read_data_o <= '0;
    else if (write_i && write_entry_i == entry_q) read_data_o <= slice(write_data_i, slice_q);
    else if (met_q) read_data_o <= met_data_q;
    else read_data_o <= slice(row_q, slice_q);
  end
endmodule
