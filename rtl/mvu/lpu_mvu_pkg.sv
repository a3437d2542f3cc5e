// What the parts of the matrix-vector unit agree on: stages, widths that no other unit knows, and the records that
// travel with a burst and with each beat. What follows from the contract stands here as plain numbers, because Yosys
// reads no package from within another; lpu_mvu checks each against lpu_pkg when it is elaborated.
package lpu_mvu_pkg;
  // Stage k of a beat issued in cycle t is a register that holds the beat in cycle t + k.
  localparam int DecodeCycles = 4;      // an instruction is handed over this long before its issue cycle
  localparam int MemoryStage = 3;       // words, minimums and activation blocks are in the memories' output registers
  localparam int ResidualCycles = 3;    // from a residual request to its values
  localparam int AlignedStage = 15;     // block terms, shifted to their offsets
  localparam int GroupSumStage = 17;    // sums over the groups of each segment
  localparam int SumStage = 19;         // the new sum in a register; in the accumulator memory a cycle later
  localparam int AccumulatorReadCycles = 2;  // from a request for accumulators to their values

  localparam int WordBits = 144;
  localparam int MinimumBits = 16;

  // An activation block: 32 mantissas, then its exponent: the offset 0…31 in the low bits, or, of softmax weights, E_b
  // as a signed number. n is 16 bits, log2 w below 33: 17 bits. The least number marks a wholly masked block.
  localparam int BlockExponentBits = 17;
  localparam int BlockMantissasBits = 320;
  localparam int BlockBits = BlockMantissasBits + BlockExponentBits;

  // Segments with accumulators of their own: the largest divisor of the column groups up to lpu_pkg::MaxSegments.
  localparam int MaxSegments = 4;
  function automatic int most_segments(input int column_groups);
    most_segments = 1;
    for (int count = 2; count <= MaxSegments; count++)
      if (column_groups % count == 0) most_segments = count;
  endfunction

  // A sum is kept in two halves, the upper one a cycle behind the lower.
  localparam int LowBits = 44;
  localparam int HighBits = 44;
  localparam int TermBits = 48;                                    // (d·s)·2^F + (t·m)·2^h
  localparam int TermHighBits = TermBits + 31 - LowBits;  // of a shifted term, above LowBits

  typedef struct packed {
    logic [23:0] weight_address;
    logic [23:0] minimum_address;
    logic [23:0] row_step;             // lane words from one row group to the next
    logic [23:0] set_step;             // … from one column set to the next
    logic [23:0] row_minimum_step;
    logic [23:0] set_minimum_step;
    logic [15:0] last_row_group;       // row groups − 1
    logic [15:0] last_set;             // column sets − 1
    logic        row_major;
    logic [1:0]  last_nibble;          // nibbles − 1
    logic        signed_code;
    logic        signed_scale;
    logic        has_minimum;
    logic        unit_scale;
    logic        keeps_value_scale;
    logic        relative_exponents;
    logic [5:0]  round;
    logic [15:0] activation_address;
    logic [8:0]  segments;
    logic [11:0] accumulator;
    logic        adds_residual;
    logic [19:0] residual_row;
    logic [23:0] exponent_address;
    logic        start;
  } burst_t;

  typedef struct packed {
    logic        valid;
    logic [1:0]  nibble;
    logic        last_nibble;          // ends its block
    logic        signed_top;           // this plane is two's complement
    logic        signed_scale;
    logic        has_minimum;
    logic        unit_scale;
    logic        keeps_value_scale;    // of this block: set 0 of a burst that keeps V's scales
    logic        relative_exponents;
    logic [8:0]  segments;
    logic [11:0] entry;
    logic        starts;               // this block sets the sum
    logic        adds_residual;        // … at the residual
  } beat_t;
endpackage
