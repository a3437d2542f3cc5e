// The residual: the vector unit writes slices of VectorLanes values, the matrix-vector unit reads Lanes values at once,
// from any slice on. Slice s lies in bank s mod (Lanes / VectorLanes), so that one row of every bank is what is asked
// for, turned by the first slice's bank.
// Both ports register their address first: values shown in cycle c − 1 are seen by reads shown in c and later. A read
// shown in the cycle of a write sees the values before it: schedules use a place again as early as that.
// Relies on rows that are multiples of VectorLanes.
module lpu_residual_memory #(
  parameter int Lanes = 4,
  parameter int VectorLanes = 2,
  parameter int ResidualValues = 64,
  localparam int Banks = Lanes / VectorLanes,
  localparam int BankBits = $clog2(Banks),
  localparam int LaneBits = $clog2(VectorLanes),
  localparam int SliceBits = VectorLanes * 32,
  localparam int Rows = (ResidualValues + Lanes - 1) / Lanes,
  localparam int AddressBits = (Rows > 1) ? $clog2(Rows) : 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [19:0]               width_i,         // of the model: values from there on read as zero
  input  logic [VectorLanes-1:0]    write_lanes_i,
  input  logic [19:0]               write_row_i,     // of lane 0
  input  logic [VectorLanes*32-1:0] write_values_i,
  input  logic                      read_i,
  input  logic [19:0]               read_row_i,      // of lane 0
  output logic [Lanes*32-1:0]       read_values_o    // three cycles after the row
);
  if (Lanes % VectorLanes != 0 || Banks != 1 << BankBits || VectorLanes != 1 << LaneBits) begin : gen_check
    $error("lpu_residual_memory: VectorLanes must be a power of two, and Lanes a power of two times that");
  end

  // ---- cycle 1: registered; cycle 2: from the arrays, with the row that they belong to
  logic                   read_q;
  logic [19:0]            read_row_q, array_row_q;
  logic [VectorLanes-1:0] write_lanes_q;
  logic [19:0]            write_row_q;
  logic [SliceBits-1:0]   write_values_q;
  always_ff @(posedge clk_i) begin
    read_q <= read_i && rst_ni;
    read_row_q <= read_row_i;
    array_row_q <= read_row_q;
    write_lanes_q <= write_lanes_i & {VectorLanes{rst_ni}};
    write_row_q <= write_row_i;
    if (|write_lanes_i) write_values_q <= write_values_i;
  end

  localparam int IndexBits = (BankBits > 0) ? BankBits : 1;
  logic [Lanes*32-1:0]  bank_values;
  logic [IndexBits-1:0] first_bank_q, write_bank_q;
  if (Banks > 1) begin : gen_index
    assign first_bank_q = read_row_q[LaneBits+:BankBits];
    assign write_bank_q = write_row_q[LaneBits+:BankBits];
  end else begin : gen_no_index
    assign first_bank_q = '0;
    assign write_bank_q = '0;
  end

  for (genvar bank = 0; bank < Banks; bank++) begin : gen_bank
    logic [AddressBits-1:0] row;
    // Banks before the first slice's hold what follows the last bank: a row further.
    assign row = read_row_q[LaneBits+BankBits+:AddressBits] + AddressBits'(bank < 32'(first_bank_q));
    lpu_ram_1r1w #(.Width(SliceBits), .Depth(Rows), .PartBits(32), .ReadsOld(1'b1)) u_slices (
      .clk_i,
      .write_i(write_bank_q == IndexBits'(bank) ? write_lanes_q : '0),
      .write_address_i(write_row_q[LaneBits+BankBits+:AddressBits]),
      .write_data_i(write_values_q),
      .read_i(read_q),
      .read_address_i(row),
      .read_data_o(bank_values[bank*SliceBits+:SliceBits])
    );
  end

  // ---- cycle 3: turned, and zero beyond the width
  logic [Lanes*32-1:0] turned;
  if (Banks > 1) begin : gen_turn
    logic [BankBits-1:0] first_bank;
    assign first_bank = array_row_q[LaneBits+:BankBits];
    always_comb begin
      for (int slice = 0; slice < Banks; slice++)
        turned[slice*SliceBits+:SliceBits] = bank_values[((slice + 32'(first_bank)) % Banks) * SliceBits+:SliceBits];
    end
  end else begin : gen_as_it_is
    assign turned = bank_values;
  end
  always_ff @(posedge clk_i) begin
    for (int lane = 0; lane < Lanes; lane++)
      read_values_o[lane*32+:32] <= turned[lane*32+:32] & {32{21'(array_row_q) + 21'(lane) < 21'(width_i)}};
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    assert (!rst_ni || !read_i || (read_row_i < 20'(ResidualValues) && read_row_i[LaneBits-1:0] == '0))
    else $error("%m: no slice begins at row %0d", read_row_i);
    assert (!rst_ni || write_lanes_i == '0 || (write_row_i < 20'(ResidualValues) && write_row_i[LaneBits-1:0] == '0))
    else $error("%m: no slice begins at row %0d", write_row_i);
  end
`endif
endmodule
