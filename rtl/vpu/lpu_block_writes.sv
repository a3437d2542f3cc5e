// Blocks from several chains to the activation banks' write ports: each chain's block goes to the bank that its tag
// names; in one cycle any number of chains may have one, on different banks. Blocks that meet in a bank, and places
// that no bank has, are reported (a schedule never makes either).
// A block leaves as lpu_mvu_pkg has it: mantissas, then the offset as its exponent. Combinational: written in the cycle
// in which the chain shows it. Relies on lpu_mvu_pkg.
module lpu_block_writes #(
  parameter int ColumnGroups = 2,
  parameter int Chains = 4,
  parameter int ActivationBlocks = 16,
  localparam int GroupBits = (ColumnGroups > 1) ? $clog2(ColumnGroups) : 1,
  localparam int AddressBits = 16,
  localparam int MantissasBits = lpu_mvu_pkg::BlockMantissasBits,
  localparam int OffsetBits = lpu_pkg::ExponentBits,
  localparam int BlockBits = lpu_mvu_pkg::BlockBits
) (
  input  logic [Chains-1:0]                   valid_i,
  input  logic [Chains*GroupBits-1:0]         bank_i,
  input  logic [Chains*AddressBits-1:0]       address_i,
  input  logic [Chains*MantissasBits-1:0]     mantissas_i,
  input  logic [Chains*OffsetBits-1:0]        offset_i,
  output logic [ColumnGroups-1:0]             write_o,
  output logic [ColumnGroups*AddressBits-1:0] address_o,
  output logic [ColumnGroups*BlockBits-1:0]   block_o,
  output logic                                meets_o,    // two blocks, one bank
  output logic                                outside_o   // no such bank or block
);
  always_comb begin
    write_o = '0;
    address_o = '0;
    block_o = '0;
    meets_o = 1'b0;
    outside_o = 1'b0;
    for (int chain = 0; chain < Chains; chain++) begin
      if (valid_i[chain] && (32'(bank_i[chain*GroupBits+:GroupBits]) >= ColumnGroups ||
                             32'(address_i[chain*AddressBits+:AddressBits]) >= ActivationBlocks)) outside_o = 1'b1;
      for (int group = 0; group < ColumnGroups; group++) begin
        if (valid_i[chain] && (ColumnGroups == 1 || bank_i[chain*GroupBits+:GroupBits] == GroupBits'(group))) begin
          if (write_o[group]) meets_o = 1'b1;
          write_o[group] = 1'b1;
          address_o[group*AddressBits+:AddressBits] =
              address_o[group*AddressBits+:AddressBits] | address_i[chain*AddressBits+:AddressBits];
          block_o[group*BlockBits+:BlockBits] = block_o[group*BlockBits+:BlockBits] |
              {(BlockBits-MantissasBits-OffsetBits)'(0), offset_i[chain*OffsetBits+:OffsetBits],
               mantissas_i[chain*MantissasBits+:MantissasBits]};
        end
      end
    end
  end
endmodule
