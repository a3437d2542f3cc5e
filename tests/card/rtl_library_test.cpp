// Whether a model of the core can run a bundle, for every depth, and what is said of a library that isn't the one that
// the bundle needs, without a model being built; bytes behind the port. Relies on rtl_stub.cpp.
#include "host/card/rtl_library.hpp"

#include <dlfcn.h>

#include "host/card/rtl_image.hpp"
#include "tests/card/rtl_fixture.hpp"

namespace lpu::test {
namespace {

using contract::Region;
using testing::HasSubstr;

class RtlMisfit : public testing::Test {
 protected:
  static LpuRtlParameters parameters(const contract::HardwareConfig& c) {
    LpuRtlParameters p{};
    p.lanes = c.lanes;
    p.column_groups = c.column_groups;
    p.vector_lanes = c.vector_lanes;
    p.softmax_lanes = c.softmax_lanes;
    p.has_minimum = c.has_minimum ? 1 : 0;
    p.lane_words = c.lane_words;
    p.minimum_words = c.minimum_words;
    p.accumulator_entries = c.accumulator_entries;
    p.activation_blocks = c.activation_blocks;
    p.residual_values = c.residual_values;
    p.exponent_words = c.exponent_words;
    p.constant_values = c.constant_values;
    p.rope_pairs = c.rope_pairs;
    p.program_instructions = c.program_instructions;
    p.delay_entries = c.delay_entries;
    return p;
  }

  TemporaryPlace place_;
  bundle::Bundle bundle_ = compiled("tied_q4_1", place_.path() / "b");
  LpuRtlParameters model_ = parameters(bundle_.hardware());
};

TEST_F(RtlMisfit, TheSameMachineFits) { EXPECT_EQ(card::rtl_misfit(model_, bundle_), ""); }

TEST_F(RtlMisfit, AnotherArrayIsNamed) {
  model_.lanes = 8;
  EXPECT_THAT(card::rtl_misfit(model_, bundle_), HasSubstr("for 4 lanes x 2 groups"));
}

TEST_F(RtlMisfit, EachDepthThatIsTooSmallIsNamed) {
  const std::pair<std::int32_t LpuRtlParameters::*, const char*> depths[] = {
      {&LpuRtlParameters::lane_words, "lane words"},
      {&LpuRtlParameters::minimum_words, "minimum words"},
      {&LpuRtlParameters::activation_blocks, "activation blocks"},
      {&LpuRtlParameters::residual_values, "residual values"},
      {&LpuRtlParameters::exponent_words, "exponent words"},
      {&LpuRtlParameters::constant_values, "constants"},
      {&LpuRtlParameters::rope_pairs, "RoPE pairs"},
      {&LpuRtlParameters::program_instructions, "instructions"},
      {&LpuRtlParameters::delay_entries, "delay entries"}};
  for (const auto& [depth, name] : depths) {
    LpuRtlParameters small = model_;
    small.*depth = 3;
    EXPECT_THAT(card::rtl_misfit(small, bundle_), testing::AllOf(HasSubstr(name), HasSubstr("holds 3"))) << name;
  }
}

TEST_F(RtlMisfit, ImageIsTheBundlesWithTheTokenLengthsBehindTheDelays) {
  const card::RtlImage image(bundle_);
  const contract::Program& program = bundle_.program();
  EXPECT_EQ(image.bytes(Region::kInstructions).size(), program.instructions.size() * contract::kInstructionWords * 4);
  EXPECT_EQ(image.bytes(Region::kLoops).size(), program.loops.size() * contract::kLoopWords * 4);
  const auto delays = image.bytes(Region::kDelays);
  ASSERT_EQ(delays.size(), 4 * (program.delays.size() + 2 * program.length_steps));
  const auto entry = [&](std::uint32_t at) {
    return delays[4 * at] | delays[4 * at + 1] << 8 | delays[4 * at + 2] << 16 | delays[4 * at + 3] << 24;
  };
  EXPECT_EQ(entry(image.lengths_entry(true)), static_cast<int>(program.cycles_with_head[0]));
  EXPECT_EQ(entry(image.lengths_entry(false) + 1), static_cast<int>(program.cycles_without_head[1]));
  for (const Region region : {Region::kConstants, Region::kRope})
    EXPECT_EQ(image.padded_bytes(region) % (4 * static_cast<std::uint64_t>(bundle_.hardware().vector_lanes)), 0u);
}

TEST_F(RtlMisfit, InstructionFaultTurnsTheFieldIntoTheValue) {
  const contract::Instruction& in = bundle_.program().instructions[1];
  std::uint32_t words[contract::kInstructionWords];
  contract::pack(in, words);
  for (const card::ImageFault& fault : card::instruction_fault(in, 1, 0, 4, 13)) {
    ASSERT_EQ(fault.region, Region::kInstructions);
    const std::uint64_t byte = fault.byte - contract::kInstructionWords * 4;
    words[byte / 4] ^= static_cast<std::uint32_t>(fault.flip) << (8 * (byte % 4));
  }
  EXPECT_EQ(words[0] & 15U, 13U);
  contract::Instruction changed = contract::unpack(words);
  EXPECT_EQ(changed.common.delay, in.common.delay);
}

/// A library under the name of `tiny`'s model: a stub that says of itself what the test says, or another.
class RtlLibraryFile : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("OPENLPU_RTL_PATH", place_.path().c_str(), 1);
    describe("tiny", kLpuRtlApiVersion, contract::contract_hash());
  }
  static void describe(const char* name, std::uint32_t version, std::uint64_t contract) {
    ::setenv("LPU_STUB_NAME", name, 1);
    ::setenv("LPU_STUB_VERSION", std::to_string(version).c_str(), 1);
    ::setenv("LPU_STUB_CONTRACT", std::to_string(contract).c_str(), 1);
  }
  void expect_refused(const std::string& library, ExitCode code, const std::vector<std::string>& parts,
                      bool with_waveform = false) {
    const std::filesystem::path link =
        place_.path() / (with_waveform ? "liblpu_rtl_tiny_trace.so" : "liblpu_rtl_tiny.so");
    std::filesystem::remove(link);
    std::filesystem::create_symlink(library, link);
    const std::string said = refusal_of([&] { (void)card::RtlLibrary::open(bundle_, with_waveform); }, code);
    for (const std::string& part : parts) EXPECT_THAT(said, HasSubstr(part));
  }

  TemporaryPlace place_;
  bundle::Bundle bundle_ = compiled("tied_q4_1", place_.path() / "b");
};

TEST_F(RtlLibraryFile, LibraryThatIsNoModelIsToldAsThat) {
  Dl_info zlib{};
  ASSERT_NE(::dladdr(::dlsym(RTLD_DEFAULT, "crc32"), &zlib), 0);
  expect_refused(std::filesystem::absolute(zlib.dli_fname), ExitCode::kBadInput,
                 {"liblpu_rtl_tiny.so is a library, but no RTL model", "scripts/build.sh --target rtl-tiny"});
}

TEST_F(RtlLibraryFile, ModelOfAnotherConfigurationIsNamed) {
  describe("kv260", kLpuRtlApiVersion, contract::contract_hash());
  expect_refused(OPENLPU_RTL_STUB, ExitCode::kBadInput,
                 {"is the RTL model of \"kv260\", but the bundle needs that of \"tiny\"", "--target rtl-tiny"});
}

TEST_F(RtlLibraryFile, ModelOfAnotherVersionOrContractIsStale) {
  describe("tiny", kLpuRtlApiVersion + 1, contract::contract_hash());
  expect_refused(OPENLPU_RTL_STUB, ExitCode::kCard, {"another version", "--target rtl-tiny"});
  describe("tiny", kLpuRtlApiVersion, contract::contract_hash() + 1);
  expect_refused(OPENLPU_RTL_STUB, ExitCode::kCard, {"another version", "--target rtl-tiny"});
}

TEST_F(RtlLibraryFile, ModelThatRecordsNoWaveformsIsRefusedForOne) {
  expect_refused(OPENLPU_RTL_STUB, ExitCode::kBadInput, {"records no waveforms", "--target rtl-tiny-trace"}, true);
}

TEST_F(RtlLibraryFile, NamedArrayWithOtherSumsIsAMachineOfItsOwn) {
  bundle::Contents contents = small_contents();
  contents.hardware = compiler::find_hardware("ulx3s:8x1");
  contents.hardware_name = "ulx3s:8x1";
  contents.minimum_words.clear();
  contents.minimum_word_count = 0;
  bundle::write(place_.path() / "own", contents);
  bundle_ = bundle::Bundle::open(place_.path() / "own");
  expect_refused(OPENLPU_RTL_STUB, ExitCode::kBadInput,
                 {"a machine of its own (accumulator_entries 64, where \"ulx3s\" has 32)"});
}

}  // namespace
}  // namespace lpu::test
