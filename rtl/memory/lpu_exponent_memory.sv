// The row exponents and the static grids of K and V: a word of one signed byte a lane for each row group, read by four
// units in any cycle. Two arrays, each with two reading ports, hold the same words: block RAM has no more ports.
// Relies on nothing being read while a word is loaded (the host port refuses loads while a token runs).
module lpu_exponent_memory #(
  parameter int Lanes = 4,
  parameter int ExponentWords = 64,
  localparam int WordBits = Lanes * lpu_pkg::RowExponentBits,
  localparam int Ports = 4,  // 0 MVU's residual, 1 VPU's rows, 2 VPU's grid, 3 SMX's grid
  localparam int AddressBits = (ExponentWords > 1) ? $clog2(ExponentWords) : 1
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [Ports-1:0]          read_i,
  input  logic [Ports*24-1:0]       read_address_i,
  output logic [Ports*WordBits-1:0] read_word_o,     // three cycles after the address
  input  logic                      write_i,
  input  logic [23:0]               write_address_i,
  input  logic [WordBits-1:0]       write_word_i
);
  logic [Ports-1:0]             read_q;
  logic [Ports*AddressBits-1:0] read_address_q;
  logic                         write_q;
  logic [AddressBits-1:0]       write_address_q;
  logic [WordBits-1:0]          write_word_q;
  always_ff @(posedge clk_i) begin
    read_q <= read_i & {Ports{rst_ni}};
    for (int port = 0; port < Ports; port++)
      read_address_q[port*AddressBits+:AddressBits] <= read_address_i[port*24+:AddressBits];
    write_q <= write_i && rst_ni;
    write_address_q <= write_address_i[AddressBits-1:0];
    if (write_i) write_word_q <= write_word_i;
  end

  for (genvar half = 0; half < 2; half++) begin : gen_half
    localparam int A = 2 * half;
    localparam int B = 2 * half + 1;
    logic [WordBits-1:0] b_array, b_word_q;
    lpu_ram_1r1rw #(.Width(WordBits), .Depth(ExponentWords)) u_words (
      .clk_i,
      .a_read_i(read_q[A] && !write_q),
      .a_address_i(read_address_q[A*AddressBits+:AddressBits]),
      .a_data_o(read_word_o[A*WordBits+:WordBits]),
      .b_read_i(read_q[B] && !write_q),
      .b_write_i(write_q),
      .b_address_i(write_q ? write_address_q : read_address_q[B*AddressBits+:AddressBits]),
      .b_data_i(write_word_q),
      .b_data_o(b_array)
    );
    always_ff @(posedge clk_i) b_word_q <= b_array;
    assign read_word_o[B*WordBits+:WordBits] = b_word_q;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    for (int port = 0; port < Ports; port++)
      assert (!rst_ni || !read_i[port] || read_address_i[port*24+:24] < 24'(ExponentWords))
      else $error("%m: port %0d: no exponent word %0d", port, read_address_i[port*24+:24]);
    assert (!rst_ni || !write_i || write_address_i < 24'(ExponentWords))
    else $error("%m: no exponent word %0d", write_address_i);
  end
`endif
endmodule
