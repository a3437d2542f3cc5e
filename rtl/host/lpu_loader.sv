// Fills the card's memories from streams of 32-bit writes: a region from its first byte upwards, without gaps, one
// region after another; offset 0 starts a region anew. Elements are put together in one buffer and written whole where
// the memory takes whole words; lane words and minimums go lane pair by lane pair, so that no buffer is an array wide.
// What an element needs is shown LoadCycles = 2 cycles after the write that completes it.
// Relies on the host for whole elements (constants and RoPE pairs padded with zeros to a word of VectorLanes values),
// and on memories that nobody reads meanwhile: a write while a token runs is refused.
module lpu_loader #(
  parameter int Lanes = 4,
  parameter int ColumnGroups = 2,
  parameter int VectorLanes = 2,
  parameter int LaneWords = 256,
  parameter int MinimumWords = 256,   // 0: no minimum memory
  parameter int ExponentWords = 64,
  parameter int ConstantValues = 64,
  parameter int RopePairs = 64,
  parameter int ProgramInstructions = 64,
  parameter int DelayEntries = 64,
  localparam int WordBits = lpu_pkg::WordDataBits + lpu_pkg::WordSideBits,
  localparam int MinimumBits = lpu_pkg::MinimumMantissaBits + lpu_pkg::MinimumShiftBits,
  localparam int InstructionBits = lpu_pkg::InstructionBits,
  localparam int ArrayLanes = ColumnGroups * Lanes
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  // a write to one of the memories' regions
  input  logic                            write_i,
  input  logic [2:0]                      region_i,
  input  logic [35:0]                     offset_i,            // bytes
  input  logic [31:0]                     data_i,
  input  logic                            refuse_i,            // a token runs
  output logic                            bad_write_o,         // in the cycle of the write: out of order, or refused
  // the lane memories' second ports, and the minimums
  output logic [ArrayLanes-1:0]           word_write_o,        // [group][lane]
  output logic [ColumnGroups*24-1:0]      word_address_o,
  output logic [ArrayLanes*WordBits-1:0]  words_o,
  output logic [ArrayLanes-1:0]           minimum_write_o,
  output logic [23:0]                     minimum_address_o,
  output logic [ArrayLanes*MinimumBits-1:0] minimum_words_o,
  // constants
  output logic                            exponent_write_o,
  output logic [23:0]                     exponent_address_o,
  output logic [Lanes*8-1:0]              exponent_word_o,
  output logic                            constant_write_o,
  output logic [26:0]                     constant_address_o,  // of values
  output logic [VectorLanes*32-1:0]       constant_values_o,
  output logic                            rope_write_o,
  output logic [25:0]                     rope_pair_o,
  output logic [VectorLanes*32-1:0]       rope_pairs_o,        // [pair][cosine, sine]
  // the program
  output logic                            instruction_write_o,
  output logic                            loop_write_o,
  output logic                            delay_write_o,
  output logic [23:0]                     program_address_o,   // element number
  output logic [InstructionBits-1:0]      program_data_o       // low bits used
);
  // ---- what each region's elements are: words of 32 bits, and how many the memory has
  localparam int PairWords = 2 * WordBits / 32;                // two lanes' words
  localparam int Pairs = ArrayLanes / 2;
  localparam int PairBits = (Pairs > 1) ? $clog2(Pairs) : 1;
  localparam int ExponentWordsOf = Lanes / 4;
  localparam int InstructionWords = InstructionBits / 32;
  localparam int MostLoops = (ProgramInstructions < 256) ? ProgramInstructions : 256;
  localparam int BufferWords = (VectorLanes > InstructionWords) ? VectorLanes : InstructionWords;
  localparam int IndexBits = $clog2(BufferWords);

  if (Lanes % 4 != 0 || Lanes > 64 || 2 * WordBits % 32 != 0) begin : gen_check_lanes
    $error("lpu_loader: Lanes must be a multiple of 4, at most 64 (an exponent word fills whole 32-bit writes)");
  end

  function automatic logic [IndexBits-1:0] last_word(input logic [2:0] region);
    unique case (region)
      3'(lpu_pkg::RegionLaneWords): last_word = IndexBits'(PairWords - 1);
      3'(lpu_pkg::RegionExponents): last_word = IndexBits'(ExponentWordsOf - 1);
      3'(lpu_pkg::RegionConstants),
      3'(lpu_pkg::RegionRope): last_word = IndexBits'(VectorLanes - 1);
      3'(lpu_pkg::RegionInstructions): last_word = IndexBits'(InstructionWords - 1);
      3'(lpu_pkg::RegionLoops): last_word = IndexBits'(lpu_pkg::LoopWords - 1);
      default: last_word = '0;                                 // minimums (a pair of lanes), delays
    endcase
  endfunction
  function automatic logic [24:0] elements(input logic [2:0] region);
    unique case (region)
      3'(lpu_pkg::RegionLaneWords): elements = 25'(LaneWords);
      3'(lpu_pkg::RegionMinimumWords): elements = 25'(MinimumWords);
      3'(lpu_pkg::RegionExponents): elements = 25'(ExponentWords);
      3'(lpu_pkg::RegionConstants): elements = 25'((ConstantValues + VectorLanes - 1) / VectorLanes);
      3'(lpu_pkg::RegionRope): elements = 25'((2 * RopePairs + VectorLanes - 1) / VectorLanes);
      3'(lpu_pkg::RegionInstructions): elements = 25'(ProgramInstructions);
      3'(lpu_pkg::RegionLoops): elements = 25'(MostLoops);
      default: elements = 25'(DelayEntries);
    endcase
  endfunction

  // ---- the place in the stream
  logic [2:0]           region_q;
  logic [35:0]          next_q;      // bytes
  logic [IndexBits-1:0] word_q;      // of the element
  logic [PairBits-1:0]  pair_q;      // of lanes, over all groups
  logic [24:0]          element_q;   // address
  logic                 starts, in_order, takes, full, completes, by_pairs, last_pair;
  logic [IndexBits-1:0] word;
  logic [PairBits-1:0]  pair;
  logic [24:0]          element;
  assign starts = offset_i == '0;
  assign word = starts ? '0 : word_q;
  assign pair = starts ? '0 : pair_q;
  assign element = starts ? '0 : element_q;
  assign in_order = starts || (region_i == region_q && offset_i == next_q);
  assign full = element >= elements(region_i);
  assign takes = write_i && in_order && !full && !refuse_i;
  assign bad_write_o = write_i && !takes;
  assign completes = word == last_word(region_i);
  assign by_pairs = region_i == 3'(lpu_pkg::RegionLaneWords) || region_i == 3'(lpu_pkg::RegionMinimumWords);
  assign last_pair = !by_pairs || pair == PairBits'(Pairs - 1);

  logic [BufferWords*32-1:0] buffer_q;
  logic                      show_q;
  logic [2:0]                show_region_q;
  logic [24:0]               show_element_q;
  logic [PairBits-1:0]       show_pair_q;
  always_ff @(posedge clk_i) begin
    show_q <= takes && completes && rst_ni;
    show_region_q <= region_i;
    show_element_q <= element;
    show_pair_q <= pair;
    if (takes) begin
      for (int i = 0; i < BufferWords; i++)
        if (word == IndexBits'(i)) buffer_q[i*32+:32] <= data_i;
      region_q <= region_i;
      next_q <= offset_i + 36'd4;
      word_q <= completes ? '0 : word + 1'b1;
      if (completes) pair_q <= last_pair ? '0 : pair + 1'b1;
      else pair_q <= pair;
      element_q <= element + 25'(completes && last_pair);
    end
    if (!rst_ni) begin  // a stream goes on at no place but 0
      next_q <= '1;
      word_q <= '0;
      pair_q <= '0;
      element_q <= '0;
    end
  end

  // ---- the element where its memory wants it
  logic [23:0] address;
  logic [ArrayLanes-1:0] pair_lanes;
  logic unused_top;
  assign address = show_element_q[23:0];
  assign unused_top = show_element_q[24];  // set only behind the last word of the largest memories
  always_comb begin
    for (int i = 0; i < Pairs; i++) pair_lanes[2*i+:2] = {2{show_pair_q == PairBits'(i)}};
  end
  assign word_write_o = pair_lanes & {ArrayLanes{show_q && show_region_q == 3'(lpu_pkg::RegionLaneWords)}};
  assign word_address_o = {ColumnGroups{address}};
  assign words_o = {Pairs{buffer_q[2*WordBits-1:0]}};
  assign minimum_write_o = pair_lanes & {ArrayLanes{show_q && show_region_q == 3'(lpu_pkg::RegionMinimumWords)}};
  assign minimum_address_o = address;
  assign minimum_words_o = {Pairs{buffer_q[2*MinimumBits-1:0]}};
  assign exponent_write_o = show_q && show_region_q == 3'(lpu_pkg::RegionExponents);
  assign exponent_address_o = address;
  assign exponent_word_o = buffer_q[Lanes*8-1:0];
  assign constant_write_o = show_q && show_region_q == 3'(lpu_pkg::RegionConstants);
  assign constant_address_o = 27'(address) << $clog2(VectorLanes);
  assign constant_values_o = buffer_q[VectorLanes*32-1:0];
  assign rope_write_o = show_q && show_region_q == 3'(lpu_pkg::RegionRope);
  assign rope_pair_o = 26'(address) << ($clog2(VectorLanes) - 1);
  assign rope_pairs_o = buffer_q[VectorLanes*32-1:0];
  assign instruction_write_o = show_q && show_region_q == 3'(lpu_pkg::RegionInstructions);
  assign loop_write_o = show_q && show_region_q == 3'(lpu_pkg::RegionLoops);
  assign delay_write_o = show_q && show_region_q == 3'(lpu_pkg::RegionDelays);
  assign program_address_o = address;
  assign program_data_o = buffer_q[InstructionBits-1:0];
endmodule
