// The model's binary32 constants, VectorLanes a word: the norms' gains (port 0) and the biases (port 1).
// Relies on addresses that are multiples of VectorLanes (gain_address and bias_address are multiples of 32), and on
// nothing being read while a word is loaded (the host port refuses loads while a token runs).
module lpu_constant_memory #(
  parameter int VectorLanes = 2,
  parameter int ConstantValues = 64,
  localparam int WordBits = VectorLanes * 32,
  localparam int Words = (ConstantValues + VectorLanes - 1) / VectorLanes,
  localparam int AddressBits = (Words > 1) ? $clog2(Words) : 1,
  localparam int LaneBits = $clog2(VectorLanes)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [1:0]            read_i,
  input  logic [2*27-1:0]       read_address_i,   // of values
  output logic [2*WordBits-1:0] read_values_o,    // three cycles after the address
  input  logic                  write_i,
  input  logic [26:0]           write_address_i,  // of values
  input  logic [WordBits-1:0]   write_values_i
);
  logic [1:0]             read_q;
  logic [AddressBits-1:0] gain_word_q, bias_word_q, write_word_q;
  logic                   write_q;
  logic [WordBits-1:0]    write_values_q, bias_array, bias_values_q;
  always_ff @(posedge clk_i) begin
    read_q <= read_i & {2{rst_ni}};
    gain_word_q <= read_address_i[LaneBits+:AddressBits];
    bias_word_q <= read_address_i[27+LaneBits+:AddressBits];
    write_q <= write_i && rst_ni;
    write_word_q <= write_address_i[LaneBits+:AddressBits];
    if (write_i) write_values_q <= write_values_i;
  end

  lpu_ram_1r1rw #(.Width(WordBits), .Depth(Words)) u_values (
    .clk_i,
    .a_read_i(read_q[0] && !write_q),
    .a_address_i(gain_word_q),
    .a_data_o(read_values_o[0+:WordBits]),
    .b_read_i(read_q[1] && !write_q),
    .b_write_i(write_q),
    .b_address_i(write_q ? write_word_q : bias_word_q),
    .b_data_i(write_values_q),
    .b_data_o(bias_array)
  );
  always_ff @(posedge clk_i) bias_values_q <= bias_array;
  assign read_values_o[WordBits+:WordBits] = bias_values_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    for (int port = 0; port < 2; port++)
      assert (!rst_ni || !read_i[port] ||
              (read_address_i[port*27+:27] < 27'(ConstantValues) && read_address_i[port*27+:LaneBits] == '0))
      else $error("%m: port %0d: no word of constants begins at %0d", port, read_address_i[port*27+:27]);
    assert (!rst_ni || !write_i || (write_address_i < 27'(ConstantValues) && write_address_i[LaneBits-1:0] == '0))
    else $error("%m: no word of constants begins at %0d", write_address_i);
  end
`endif
endmodule
