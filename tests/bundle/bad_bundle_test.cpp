// Bundles that must be refused, each with a sentence that names file and field: cut off, altered, incomplete, made for
// another machine, or wrong in a field although its checksums are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "host/base/atomic_file.hpp"
#include "host/base/error.hpp"
#include "host/bundle/checksum.hpp"
#include "host/bundle/layout.hpp"
#include "host/bundle/manifest.hpp"
#include "host/bundle/program_file.hpp"
#include "tests/bundle/small_bundle.hpp"
#include "tests/bundle/small_group.hpp"

namespace lpu::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

void expect_error(ExitCode code, const std::function<void()>& action, const std::string& part,
                  const std::string& where = "") {
  try {
    action();
    ADD_FAILURE() << "accepted: " << where;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << where << ": " << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr(part), HasSubstr("; "))) << where;
  }
}

class BadBundle : public testing::Test {
 protected:
  BadBundle() { bundle::write(folder_, small_contents()); }

  void expect_refused(const std::string& part, ExitCode code = ExitCode::kBadInput, const std::string& where = "") {
    expect_error(
        code, [this] { bundle::Bundle::open(folder_); }, part, where);
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    for (const auto& entry : fs::directory_iterator(folder_)) result.push_back(entry.path());
    return result;
  }
  /// Puts the manifest back with a right checksum.
  void write_manifest(const std::string& text) const {
    write_bytes(folder_ / bundle::kManifestFile, text);
    write_bytes(folder_ / bundle::kManifestChecksumFile, bundle::crc32_text(bundle::crc32_of(bytes_of(text))) + "\n");
  }
  [[nodiscard]] Json manifest() const { return Json::parse(read_bytes(folder_ / bundle::kManifestFile)); }

  TemporaryPlace place_;
  fs::path folder_ = place_.path() / "b";
};

TEST_F(BadBundle, OneBitAlteredAnywhereIsFound) {
  ASSERT_EQ(files().size(), 9u);
  for (const fs::path& path : files()) {
    const std::string good = read_bytes(path);
    const std::size_t step = std::max<std::size_t>(good.size() / 150, 1);
    for (std::size_t at = 0; at < good.size(); at += step) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << (at / step % 8)));
      write_bytes(path, bad);
      const std::string named =
          path.filename() == bundle::kManifestChecksumFile ? "manifest.json" : path.filename().string();
      expect_refused(named, ExitCode::kBadInput, path.string() + " byte " + std::to_string(at));
    }
    write_bytes(path, good);
  }
  EXPECT_NO_THROW(bundle::Bundle::open(folder_));
}

TEST_F(BadBundle, FileCutOffAnywhereIsFound) {
  for (const fs::path& path : files()) {
    const std::string good = read_bytes(path);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, good.size() / 3, good.size() / 2, good.size() - 1}) {
      write_bytes(path, good.substr(0, size));
      expect_refused("manifest", ExitCode::kBadInput, path.string() + " " + std::to_string(size));
    }
    write_bytes(path, good + "x");
    expect_refused("manifest", ExitCode::kBadInput, path.string() + " longer");
    write_bytes(path, good);
  }
}

TEST_F(BadBundle, MissingFileIsNamed) {
  for (const fs::path& path : files()) {
    const std::string good = read_bytes(path);
    fs::remove(path);
    expect_refused(path.filename().string() + ": is missing");
    write_bytes(path, good);
  }
}

TEST_F(BadBundle, MissingFolderIsAnErrorOfTheSystem) {
  expect_error(
      ExitCode::kIo, [&] { bundle::Bundle::open(place_.path() / "none"); }, "no such folder");
  expect_error(
      ExitCode::kBadInput, [&] { bundle::Bundle::open(place_.path()); }, "manifest.json: is missing");
}

TEST_F(BadBundle, OtherContractIsStale) {
  Json json = manifest();
  json["contract"] = "0123456789abcdef";
  write_manifest(json.dump());
  expect_refused("made for contract 0123456789abcdef, but this build has " + contract::contract_hash_text() +
                     "; compile the model again: lpu compile MODEL --hardware tiny",
                 ExitCode::kCard);
}

TEST_F(BadBundle, ShellTextStandsInNoSentenceThatIsACommand) {
  Json json = manifest();
  json["contract"] = "0123456789abcdef";
  json["hardware_name"] = "tiny; rm -r x";
  write_manifest(json.dump());
  expect_refused("lpu compile MODEL --hardware NAME ...", ExitCode::kCard);
}

TEST_F(BadBundle, ConfigurationNameThatIsNoPlainWordIsRefused) {
  for (const char* name : {"", "../../tmp/x", "a/b", "tiny; rm -r x", "Tiny", "$(x)", "a b", "-x", "tiny\n",
                           "a-name-of-more-than-thirty-two-characters"}) {
    Json json = manifest();
    json["hardware"]["name"] = name;
    write_manifest(json.dump());
    expect_refused("'hardware.name' isn't", ExitCode::kBadInput, name);
  }
  for (const char* name : {"custom", "u55c", "my_board-2"}) {
    Json json = manifest();
    json["hardware"]["name"] = name;
    write_manifest(json.dump());
    EXPECT_NO_THROW(bundle::Bundle::open(folder_)) << name;
  }
}

TEST_F(BadBundle, FieldThatTheNamedConfigurationHasOtherwiseIsNamed) {
  const Json good = manifest();
  const auto refused = [&](const char* key, const Json& value, const std::string& found, const std::string& wanted) {
    Json bad = good;
    bad["hardware"][key] = value;
    write_manifest(bad.dump());
    expect_refused(
        "field 'hardware." + std::string(key) + "' is " + found + ", but configuration \"tiny\" has " + wanted,
        ExitCode::kBadInput, key);
  };
  refused("vector_lanes", 4, "4", "2");
  refused("lane_words", 20000, "20000", "16384");
  refused("delay_entries", 65535, "65535", "65536");
  Json other = good;
  other["hardware"]["has_minimum"] = false;
  other["hardware"]["minimum_words"] = 0;
  write_manifest(other.dump());
  expect_refused("field 'hardware.has_minimum' is false, but configuration \"tiny\" has true");
  // What was asked for with an array of its own is what was asked for.
  other = good;
  other["hardware_name"] = "tiny:4x2";
  other["hardware"]["vector_lanes"] = 4;
  write_manifest(other.dump());
  EXPECT_NO_THROW(bundle::Bundle::open(folder_));
}

TEST_F(BadBundle, FieldOutOfRangeIsNamed) {
  struct Case {
    const char* pointer;
    Json value;
    const char* named;
  };
  const std::vector<Case> cases = {
      {"/format", "other", "'format'"},
      {"/format_version", 1, "'format_version' is 1"},
      {"/format_version", 3, "'format_version' is 3"},
      {"/contract", "xyz", "'contract'"},
      {"/contract", 5, "'contract'"},
      {"/hardware_name", Json::array(), "'hardware_name'"},
      {"/hardware", 3, "'hardware.'"},
      {"/hardware/lanes", 5, "lanes must be even"},
      {"/hardware/lanes", -4, "'hardware.lanes'"},
      {"/hardware/lanes", 4.5, "'hardware.lanes'"},
      {"/hardware/column_groups", 0, "column_groups must be"},
      {"/hardware/clock_mhz", std::numeric_limits<std::uint64_t>::max(), "'hardware.clock_mhz'"},
      {"/hardware/has_minimum", "yes", "'hardware.has_minimum'"},
      {"/shape/layers", 0, "'shape.layers'"},
      {"/shape/head_size", 257, "'shape.head_size'"},
      {"/shape/head_size", 33, "'shape.head_size'"},
      {"/shape/kv_heads", 3, "'shape.kv_heads'"},
      {"/shape/kv_bits", 9, "'shape.kv_bits'"},
      {"/shape/vocabulary", 1 << 21, "'shape.vocabulary'"},
      {"/shape/context_tokens", 0, "'shape.context_tokens'"},
      {"/shape/first_id", 300, "'shape.first_id' is 300"},
      {"/shape/ids", 301, "'shape.ids' makes ids 0 to 300"},
      {"/shape/ids", 299, "'shape.ids' is 299, but a card that is of no group holds all 300"},
      {"/shape/norm_epsilon", 0, "'shape.norm_epsilon'"},
      {"/shape/norm_epsilon", "small", "'shape.norm_epsilon'"},
      {"/lane_word_count", 20000, "'lane_word_count'"},
      {"/lane_word_count", 4, "lane_words.bin: has"},
      {"/kv_word_count", 16382, "'kv_word_count'"},
      {"/minimum_word_count", 1, "minimum_words.bin: has"},
      {"/files/program.bin/crc32", "0000000G", "'files.program.bin.crc32'"},
      {"/files/program.bin/crc32", "00000000", "program.bin: is damaged"},
      {"/files/rope.bin/bytes", 5, "rope.bin: has"},
      {"/files/tokenizer.gguf/bytes", 0, "tokenizer.gguf: is empty"},
      {"/shape/context_tokens", 96, "rope.bin: has"},
  };
  const Json good = manifest();
  for (const Case& one : cases) {
    Json bad = good;
    bad[Json::json_pointer(one.pointer)] = one.value;
    write_manifest(bad.dump());
    expect_refused(one.named, ExitCode::kBadInput, one.pointer);
  }
}

TEST_F(BadBundle, MissingFieldIsNamed) {
  const Json good = manifest();
  for (const auto& [key, value] : good.items()) {
    Json bad = good;
    bad.erase(key);
    write_manifest(bad.dump());
    expect_refused("field '" + key + "' is missing");
  }
}

TEST_F(BadBundle, ManifestThatIsNoJsonIsRefused) {
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string("\xff\xfe"), std::string(2000, '['),
                                  std::string(2 << 20, ' '), std::string("\"text\"")}) {
    write_manifest(text);
    expect_refused("manifest.json");
  }
}

TEST_F(BadBundle, NumberThatIsNotFiniteIsNamed) {
  for (const float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    bundle::Contents contents = small_contents();
    contents.constants[2] = value;
    bundle::write(folder_, contents);
    expect_refused("constants.bin: the value at byte 8");
  }
}

// ---- program.bin, without checksums in between

class BadProgram : public testing::Test {
 protected:
  static std::vector<std::byte> bytes_with(std::size_t word, std::uint32_t value) {
    std::vector<std::byte> bytes = bundle::program_bytes(small_program());
    std::memcpy(bytes.data() + 4 * word, &value, 4);
    return bytes;
  }
  static std::vector<std::byte> bytes_of_changed(const std::function<void(contract::Program&)>& change) {
    contract::Program program = small_program();
    change(program);
    return bundle::program_bytes(program);
  }
  static void expect_refused(const std::vector<std::byte>& bytes, const std::string& part) {
    expect_error(
        ExitCode::kBadInput, [&] { bundle::parse_program(bytes, *contract::find_hardware("tiny"), 64, "program.bin"); },
        part, part);
  }
};

TEST_F(BadProgram, HeaderIsChecked) {
  expect_refused(bytes_with(0, 1), "magic number at byte 0");
  expect_refused(bytes_with(1, 0), "number of instructions at byte 4 is 0");
  expect_refused(bytes_with(1, 5000), "number of instructions at byte 4 is 5000");
  expect_refused(bytes_with(1, 0xFFFFFFFF), "number of instructions");
  expect_refused(bytes_with(2, 0), "number of loops at byte 8");
  expect_refused(bytes_with(2, 5), "number of loops at byte 8 is 5");
  expect_refused(bytes_with(3, 0xFFFFFFFF), "number of delay rows at byte 12");
  expect_refused(bytes_with(3, 40000), "more than the hardware's");
  expect_refused(bytes_with(3, 3), "the end");
  expect_refused(bytes_with(4, 3), "number of length steps at byte 16 is 3");
  expect_refused(bytes_with(5, 1), "number of length rows at byte 20 is 1");
  expect_refused(bytes_with(5, 4), "number of length rows at byte 20 is 4");
  expect_refused(bytes_with(5, 3), "the end");
}

TEST_F(BadProgram, DelayTableNeedsRoomForTheTokenLengthsBehindIt) {
  // Two rows and the two of token lengths, two context lengths each.
  contract::HardwareConfig hardware = *contract::find_hardware("tiny");
  const std::vector<std::byte> good = bundle::program_bytes(small_program());
  hardware.delay_entries = 8;
  EXPECT_EQ(bundle::parse_program(good, hardware, 64, "program.bin").delays.size(), 4u);
  hardware.delay_entries = 7;
  expect_error(
      ExitCode::kBadInput, [&] { bundle::parse_program(good, hardware, 64, "program.bin"); },
      "number of delay rows at byte 12", "makes 8 delays with the 2 rows of lengths");
}

TEST_F(BadProgram, EveryTruncationIsFound) {
  const std::vector<std::byte> good = bundle::program_bytes(small_program());
  for (std::size_t size = 0; size < good.size(); ++size)
    expect_refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, "program.bin");
}

TEST_F(BadProgram, LoopsMustCoverTheInstructionsInOrder) {
  expect_refused(bytes_of_changed([](auto& p) { p.loops[0].instruction_count = 3; }), "loop 1");
  expect_refused(bytes_of_changed([](auto& p) { p.loops[1].instruction_count = 3; }), "loop 1");
  expect_refused(bytes_of_changed([](auto& p) { p.loops[1].first_instruction = 3; }), "loop 1");
  expect_refused(bytes_of_changed([](auto& p) { p.loops[0].instruction_count = 0; }), "loop 0");
  expect_refused(bytes_of_changed([](auto& p) { p.loops[0].iterations = 0; }), "no iterations");
  expect_refused(bytes_of_changed([](auto& p) { p.loops.pop_back(); }), "in no loop");
  expect_refused(bytes_of_changed([](auto& p) {
                   p.loops[0].is_head = 1;
                   p.loops[1].is_head = 0;
                 }),
                 "follows the head");
  expect_refused(bytes_of_changed([](auto& p) { p.loops[0].entry_delay_vpu = 2; }), "names delay row 2 of 2");
}

TEST_F(BadProgram, LoopsHavePhasesWhereTheCardIsOfAGroupOnly) {
  expect_refused(bytes_of_changed([](auto& p) { p.loops[1].phase = 3; }), "loop 1 at byte 44 belongs to a phase");
  expect_refused(bytes_of_changed([](auto& p) {
                   p = small_group_program();
                   p.loops[1].phase = 0;
                 }),
                 "loop 1 at byte 44 belongs to no phase");
}

TEST_F(BadProgram, InstructionsAreChecked) {
  using contract::Program;
  const std::size_t first = 6 + 2 * contract::kLoopWords;
  expect_refused(bytes_with(first, 0xF), "unknown opcode 15");
  expect_refused(bytes_with(first + contract::kInstructionWords - 1, 0x80000000), "instruction 0 at byte");
  expect_refused(bytes_of_changed([](Program& p) { p.instructions[1].common.delay_by_length = 1; }), "delay row");
  expect_refused(bytes_of_changed([](Program& p) { p.instructions[2].matvec.segments = 0; }), "segments");
  expect_refused(bytes_of_changed([](Program& p) { p.instructions[3].vector.segments = 3; }), "segments");
  expect_refused(bytes_of_changed([](Program& p) { p.instructions[0].matvec.nibbles = 0; }), "no words");
  expect_refused(bytes_of_changed([](Program& p) { p.instructions[0].matvec.length_dimension = 3; }), "dimension");
  expect_refused(bytes_of_changed([](Program& p) { p.instructions[0].matvec.accumulator = 2048; }), "accumulator");
}

TEST_F(BadProgram, CyclesAreChecked) {
  expect_refused(bytes_of_changed([](auto& p) { p.delays[1] = 1 << 24; }), "a delay at byte");
  expect_refused(bytes_of_changed([](auto& p) { p.cycles_with_head[0] = 0; }), "a token's cycles at byte");
  for (const std::size_t phase : {1, 2, 3})
    expect_refused(bytes_of_changed([phase](auto& p) {
                     p = small_group_program();
                     p.phase_cycles[phase][1] = 0;
                   }),
                   "a phase's cycles at byte");
}

TEST(Program, FieldThatDoesNotFitIsADefect) {
  contract::Program program = small_program();
  program.instructions[0].matvec.round = 64;
  try {
    (void)bundle::program_bytes(program);
    ADD_FAILURE() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInternal);
    EXPECT_THAT(error.what(), HasSubstr("round"));
  }
}

}  // namespace
}  // namespace lpu::test
