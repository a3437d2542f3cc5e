// The contract: every named configuration is sound, every field survives packing, and the hash notices a change.
// Relies on hls/contract only.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "hls/contract/describe.hpp"
#include "hls/contract/instructions.hpp"
#include "hls/contract/latencies.hpp"
#include "hls/contract/link.hpp"
#include "hls/contract/memory_map.hpp"

namespace lpu::contract {
namespace {

constexpr std::uint64_t kSeed = 1;

std::uint32_t random_bits(std::mt19937_64& random, int bits) {
  return static_cast<std::uint32_t>(random() & ((1ull << bits) - 1));
}

#define LPU_RANDOM_COMMON(name, bits) in.common.name = random_bits(random, bits);
#define LPU_RANDOM_MATVEC(name, bits) in.matvec.name = random_bits(random, bits);
#define LPU_RANDOM_VECTOR(name, bits) in.vector.name = random_bits(random, bits);
#define LPU_RANDOM_SOFTMAX(name, bits) in.softmax.name = random_bits(random, bits);
Instruction random_instruction(std::mt19937_64& random, Opcode opcode) {
  Instruction in;
  LPU_COMMON_FIELDS(LPU_RANDOM_COMMON)
  in.common.opcode = static_cast<std::uint32_t>(opcode);
  switch (unit_of(opcode)) {
    case Unit::kMvu:
      LPU_MATVEC_FIELDS(LPU_RANDOM_MATVEC) break;
    case Unit::kVpu:
      LPU_VECTOR_FIELDS(LPU_RANDOM_VECTOR) break;
    case Unit::kSmx:
      LPU_SOFTMAX_FIELDS(LPU_RANDOM_SOFTMAX) break;
  }
  return in;
}

#define LPU_EQUAL_COMMON(name, bits) EXPECT_EQ(a.common.name, b.common.name) << #name;
#define LPU_EQUAL_MATVEC(name, bits) EXPECT_EQ(a.matvec.name, b.matvec.name) << #name;
#define LPU_EQUAL_VECTOR(name, bits) EXPECT_EQ(a.vector.name, b.vector.name) << #name;
#define LPU_EQUAL_SOFTMAX(name, bits) EXPECT_EQ(a.softmax.name, b.softmax.name) << #name;
void expect_equal(const Instruction& a,
                  const Instruction& b){LPU_COMMON_FIELDS(LPU_EQUAL_COMMON) LPU_MATVEC_FIELDS(LPU_EQUAL_MATVEC)
                                            LPU_VECTOR_FIELDS(LPU_EQUAL_VECTOR) LPU_SOFTMAX_FIELDS(LPU_EQUAL_SOFTMAX)}

TEST(Instruction, PackedAndUnpackedIsEqual) {
  std::mt19937_64 random(kSeed);
  for (int opcode = 0; opcode < kOpcodes; ++opcode)
    for (int i = 0; i < 200; ++i) {
      const Instruction in = random_instruction(random, static_cast<Opcode>(opcode));
      std::uint32_t words[kInstructionWords];
      pack(in, words);
      expect_equal(in, unpack(words));
    }
}

TEST(Instruction, LastBitOfEachFormatIsInsideTheWord) {
  EXPECT_LE(kMatvecBits, kInstructionBits);
  EXPECT_LE(kVectorBits, kInstructionBits);
  EXPECT_LE(kSoftmaxBits, kInstructionBits);
}

TEST(Instruction, FieldTooLargeIsNamed) {
  Instruction in;
  EXPECT_EQ(overflowing_field(in), nullptr);
  in.matvec.row_groups = 1u << 16;
  EXPECT_STREQ(overflowing_field(in), "row_groups");
  in.matvec.row_groups = 0;
  in.vector.grid_address = 1u << 24;
  EXPECT_STREQ(overflowing_field(in), "grid_address");
}

TEST(Loop, PackedAndUnpackedIsEqual) {
  Loop loop;
  loop.first_instruction = 0xfffff;
  loop.instruction_count = 12345;
  loop.iterations = 0xffff;
  loop.is_head = 1;
  loop.entry_delay_mvu = 0xabcdef;
  loop.entry_delay_vpu = kNoEntryDelay;
  loop.entry_delay_smx = 1;
  std::uint32_t words[kLoopWords];
  pack(loop, words);
  const Loop back = unpack_loop(words);
  EXPECT_EQ(back.first_instruction, loop.first_instruction);
  EXPECT_EQ(back.instruction_count, loop.instruction_count);
  EXPECT_EQ(back.iterations, loop.iterations);
  EXPECT_EQ(back.is_head, loop.is_head);
  EXPECT_EQ(back.entry_delay_mvu, loop.entry_delay_mvu);
  EXPECT_EQ(back.entry_delay_vpu, loop.entry_delay_vpu);
  EXPECT_EQ(back.entry_delay_smx, loop.entry_delay_smx);
}

TEST(HardwareConfig, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const HardwareConfig& config : kHardwareConfigs) {
    EXPECT_TRUE(names.insert(config.name).second) << config.name;
    ASSERT_NE(find_hardware(config.name), nullptr);
    EXPECT_STREQ(find_hardware(config.name)->note, config.note);
  }
  for (const char* name : {"tiny", "ulx3s", "orangecrab", "kv260", "zcu104", "u50", "u55c", "u250", "v80", "virtual"})
    EXPECT_NE(find_hardware(name), nullptr) << name;
  EXPECT_EQ(find_hardware("u999"), nullptr);
}

TEST(HardwareConfig, VirtualIsLabelledAsNoDevice) {
  EXPECT_NE(std::string(find_hardware("virtual")->note).find("NOT A DEVICE"), std::string::npos);
}

TEST(HardwareConfig, EachFaultIsASentenceThatNamesItsField) {
  const struct {
    void (*spoil)(HardwareConfig&);
    const char* names;
  } cases[] = {
      {[](HardwareConfig& c) { c.lanes = 3; }, "lanes"},
      {[](HardwareConfig& c) {
         c.lanes = 48;
         c.vector_lanes = 16;
       },
       "lanes"},
      {[](HardwareConfig& c) { c.column_groups = 0; }, "column_groups"},
      {[](HardwareConfig& c) { c.vector_lanes = 3; }, "vector_lanes"},
      {[](HardwareConfig& c) { c.vector_lanes = 64; }, "vector_lanes"},
      {[](HardwareConfig& c) { c.softmax_lanes = 0; }, "softmax_lanes"},
      {[](HardwareConfig& c) { c.clock_mhz = 0; }, "clock_mhz"},
      {[](HardwareConfig& c) { c.lane_words = 0; }, "lane_words"},
      {[](HardwareConfig& c) { c.minimum_words = 0; }, "minimum_words"},
      {[](HardwareConfig& c) { c.accumulator_entries = 1; }, "accumulator_entries"},
      {[](HardwareConfig& c) { c.activation_blocks = 1 << 20; }, "activation_blocks"},
      {[](HardwareConfig& c) { c.residual_values = 0; }, "residual_values"},
      {[](HardwareConfig& c) { c.exponent_words = 0; }, "exponent_words"},
      {[](HardwareConfig& c) { c.constant_values = 0; }, "constant_values"},
      {[](HardwareConfig& c) { c.rope_pairs = 0; }, "rope_pairs"},
      {[](HardwareConfig& c) { c.program_instructions = 1; }, "program_instructions"},
      {[](HardwareConfig& c) { c.delay_entries = 0; }, "delay_entries"},
  };
  for (const auto& test : cases) {
    HardwareConfig config = *find_hardware("u55c");
    test.spoil(config);
    const char* fault = fault_of(config);
    ASSERT_NE(fault, nullptr) << test.names;
    EXPECT_NE(std::string(fault).find(test.names), std::string::npos) << fault;
  }
}

TEST(Segments, DivideGroupsAndHeads) {
  EXPECT_EQ(segments_for(6, 3), 3);
  EXPECT_EQ(segments_for(6, 8), 2);
  EXPECT_EQ(segments_for(1, 8), 1);
  EXPECT_EQ(segments_for(6, 1), 1);
  EXPECT_EQ(segments_for(8, 4), 4);
}

TEST(Segments, AreNeverMoreThanHaveAccumulators) {
  EXPECT_EQ(segments_for(8, 8), 4);
  EXPECT_EQ(segments_for(6, 6), 3);
  EXPECT_EQ(segments_for(7, 7), 1);
  EXPECT_TRUE(may_have_segments(8, 4));
  EXPECT_FALSE(may_have_segments(8, 8));
  EXPECT_FALSE(may_have_segments(8, 3));
  EXPECT_FALSE(may_have_segments(8, 0));
  EXPECT_FALSE(may_have_segments(8, (std::uint64_t{1} << 32) + 1));
}

TEST(SoftmaxRate, IsOneBlockACycleWhereASegmentHasOneBank) {
  const HardwareConfig& u50 = *find_hardware("u50");  // 64 x 4
  EXPECT_EQ(softmax_rate(u50, 4), 32);
  EXPECT_EQ(softmax_rate(u50, 2), 64);
  EXPECT_EQ(softmax_rate(*find_hardware("tiny"), 2), find_hardware("tiny")->softmax_lanes);
}

TEST(ControlRegisters, HaveWordsOfTheirOwnInTheirRegion) {
#define LPU_WORD(name, word, access, meaning) word,
  const std::vector<int> words = {LPU_CONTROL_REGISTERS(LPU_WORD)};
#undef LPU_WORD
  EXPECT_EQ(std::set<int>(words.begin(), words.end()).size(), words.size());
  EXPECT_EQ(std::count_if(words.begin(), words.end(), [](int w) { return w < 0 || w >= kControlWords; }), 0);
  EXPECT_EQ(static_cast<int>(ControlRegister::kBusyBeatsHigh), 61);
  EXPECT_EQ(element_bytes(Region::kControl, *find_hardware("tiny")), 4);
}

TEST(ControlRegisters, AndErrorsStandInThePackageAndInTheIsa) {
  for (const char* text :
       {"localparam int ControlContractLow = 0;", "localparam int ControlStart = 39;", "localparam int ErrorLate = 1;",
        "localparam int ErrorLoops = 11;", "localparam int RegionControl = 8;"})
    EXPECT_NE(systemverilog_package().find(text), std::string::npos) << text;
  for (const char* text : {"| Start | 39 | write |", "| Late | 1 |", "| Control | 8 |"})
    EXPECT_NE(isa_tables().find(text), std::string::npos) << text;
}

TEST(CardError, EachHasASentenceThatSaysWhatToDo) {
  std::set<std::string> sentences;
  for (std::uint32_t number = 1; number <= static_cast<std::uint32_t>(CardError::kLoops); ++number) {
    const std::string sentence = describe(static_cast<CardError>(number));
    EXPECT_TRUE(sentences.insert(sentence).second) << sentence;
    EXPECT_NE(sentence.find(": "), std::string::npos) << sentence;
  }
  EXPECT_NE(std::string(describe(static_cast<CardError>(200))).find("doesn't know"), std::string::npos);
}

TEST(LinkError, EachHasASentenceThatSaysWhatToDo) {
  std::set<std::string> sentences;
  for (std::uint32_t number = 1; number <= static_cast<std::uint32_t>(LinkError::kOverflow); ++number) {
    const std::string sentence = describe(static_cast<LinkError>(number));
    EXPECT_TRUE(sentences.insert(sentence).second) << sentence;
    EXPECT_NE(sentence.find(": "), std::string::npos) << sentence;
  }
  EXPECT_NE(std::string(describe(static_cast<LinkError>(200))).find("doesn't know"), std::string::npos);
}

TEST(Link, FormatStandsInThePackageAndInTheIsa) {
  for (const char* text :
       {"localparam int LinkErrorOverflow = 5;", "localparam int LinkHeaderSequenceLsb = 32;",
        "localparam int LinkSendCycles = 4;", "localparam logic [31:0] LinkCrcPolynomial = 32'h82f63b78;"})
    EXPECT_NE(systemverilog_package().find(text), std::string::npos) << text;
  for (const char* text : {"| `parity` | 16 | 48 |", "| Sequence | 2 | a vector", "| `kLinkCheckCycles` | 3 |"})
    EXPECT_NE(isa_tables().find(text), std::string::npos) << text;
}

TEST(Link, BeatsOfAVectorAreCountedAtEveryWidth) {
  EXPECT_EQ(link_vector_beats(256, 18), 1 + 18 * 4 + 1);
  EXPECT_EQ(link_vector_beats(32, 1), 2 + 32 + 1);
  EXPECT_EQ(link_vector_beats(512, kMaxLinkBlocks), 1 + 4096 + 1);
  EXPECT_FALSE(may_be_link_stream(96));
  EXPECT_FALSE(may_be_link_stream(1024));
}

TEST(ContractHash, IsStableAndPrintedInThePackage) {
  EXPECT_EQ(contract_hash(), contract_hash());
  EXPECT_EQ(contract_hash_text().size(), 16u);
  EXPECT_NE(systemverilog_package().find(contract_hash_text()), std::string::npos);
}

}  // namespace
}  // namespace lpu::contract
