// What the parts of the sequencer and its neighbours agree on: how long before its issue cycle a unit is handed an
// instruction, and how long before its start a token's walk begins.
package lpu_sequencer_pkg;
  localparam int MvuLead = 4;      // cycles from the handing over of an instruction to its issue
  localparam int VpuLead = 8;
  localparam int SmxLead = 8;

  // From the cycle in which a token is decided on to its first one. What an instruction of delay 0 at the head of the
  // list needs is 13 cycles to the VPU's port and its lead of 8; the rest is for a walk that had to wait for the last.
  localparam int WalkLead = 24;

  localparam int MaxLoops = 256;
  localparam int LoopBits = 129;   // lpu_pkg's fields of a loop, without the padding of its five words
  localparam int FetchCycles = 2;  // from the program memory's address to the instruction
  localparam int TimeBits = 32;    // of the cycle counter: it wraps, and a token is shorter than 2^30 cycles
endpackage
