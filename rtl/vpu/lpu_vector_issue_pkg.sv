// What the parts of lpu_vector_issue hand to each other: an instruction's record for the walk over its slices, its
// record for the places that results go to, and what travels with each slice. Widths are those of the instruction's
// fields (lpu_pkg), as plain numbers, because Yosys reads no package from within another; lpu_vector_issue checks them.
package lpu_vector_issue_pkg;
  // Cycles relative to a slice's entry, and to the issue of its instruction.
  localparam int WalkLead = 3;        // the walk stands at a slice so long before the slice enters
  localparam int WalkDecodeCycles = 4;   // from the handover of an instruction to its walk record
  localparam int PlaceDecodeCycles = 6;  // … to its place record
  localparam int GainCycle = 1;       // after the entry: requests for constants
  localparam int BiasCycle = 5;

  // Which slices there are, and what they read.
  typedef struct packed {
    logic [3:0]  kind;
    logic [11:0] accumulator;         // entry of row group 0
    logic [15:0] last_row_group;      // row groups (kEmbed: column sets) − 1
    logic [8:0]  last_segment;        // kMix: segments − 1, others 0
    logic [11:0] pitch;
    logic [7:0]  slice_cycles;
    logic [19:0] rows;                // of a segment
    logic [19:0] first_row;
    logic [23:0] exponent_address;
    logic [23:0] grid_address;        // of the first head's grid
    logic [5:0]  grid_lane;
    logic [7:0]  head_block;          // first row's block in its head
    logic [7:0]  last_head_block;     // blocks of a head − 1
    logic        starts_norm;
    logic        ends_norm;
    logic        has_bias;
    logic        wide;
    logic        scale_register;
    logic [5:0]  round;
  } walk_t;

  // Where blocks go: bank `first_bank + place`, address `outer + inner`.
  typedef struct packed {
    logic        stays;               // kValue: blocks of a head go to one place
    logic [8:0]  part;                // banks of a segment
    logic [7:0]  place;               // bank in the segment
    logic [8:0]  first_bank;          // of the segment
    logic [8:0]  segment;
    logic [8:0]  last_segment;
    logic [23:0] inner;               // from the head's first address to the block's
    logic [23:0] inner_step;
    logic [23:0] outer;               // the head's first address
    logic [23:0] outer_step;          // … from one head of a segment to its next
    logic [23:0] key_address;         // kValue: K's word that takes the head's scale
    logic [23:0] key_step;
    logic [1:0]  nibbles;
    logic [19:0] row_step;
    logic [3:0]  head_blocks;
    logic [26:0] constant_address;    // of the first row's gain or bias
    logic [23:0] rope_pair;           // the position's first pair
  } place_t;

  typedef struct packed {
    logic        valid;
    logic [3:0]  kind;
    logic [8:0]  segment;             // kMix
    logic [11:0] accumulator;         // entry
    logic [4:0]  slice;               // in its row group
    logic [5:0]  count;               // rows that are there, from lane 0 on
    logic [19:0] row;                 // index of lane 0's
    logic [4:0]  slot;                // slice in its block
    logic [2:0]  head_block;          // block in its head
    logic        block_end;
    logic        head_end;
    logic        starts;              // a norm, or a head of kValue; kLogits: told by lpu_vector_issue
    logic        ends;                // … or kLogits' rows
    logic        has_bias;
    logic        wide;
    logic [5:0]  grid_lane;
    logic        scale_register;
    logic [5:0]  round;
  } slice_t;
endpackage
