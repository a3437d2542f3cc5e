// A bundle of a few hundred bytes, written by hand: right in form, without meaning. For tests of the format and of what
// stands on it. Relies on host/bundle.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "hls/contract/describe.hpp"
#include "host/bundle/bundle.hpp"

namespace lpu::test {

/// A folder that goes when the test goes.
class TemporaryPlace {
 public:
  TemporaryPlace() {
    std::string name = (std::filesystem::temp_directory_path() / "openlpu-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
    path_ = name;
  }
  ~TemporaryPlace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryPlace(const TemporaryPlace&) = delete;
  TemporaryPlace& operator=(const TemporaryPlace&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Names of what lies in it.
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Two loops of two instructions each, two delay rows, a context of 64 tokens.
inline contract::Program small_program() {
  contract::Program program;
  for (int i = 0; i < 4; ++i) {
    contract::Instruction in;
    in.common.opcode = static_cast<std::uint32_t>(i % 2 == 0 ? contract::Opcode::kMatvec : contract::Opcode::kLogits);
    in.common.delay = static_cast<std::uint32_t>(100 + i);
    in.matvec.segments = in.vector.segments = 1;
    in.matvec.nibbles = 1;
    in.matvec.weight_address = static_cast<std::uint32_t>(7 * i);
    program.instructions.push_back(in);
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    contract::Loop loop;
    loop.first_instruction = 2 * i;
    loop.instruction_count = 2;
    loop.iterations = 1 + i;
    loop.is_head = i;
    loop.entry_delay_mvu = i;
    loop.entry_delay_vpu = loop.entry_delay_smx = contract::kNoEntryDelay;
    program.loops.push_back(loop);
  }
  program.length_steps = 2;
  program.delays = {1, 2, 3, 4};
  program.cycles_with_head = {1000, 1100};
  program.cycles_without_head = {700, 800};
  return program;
}

inline bundle::Contents small_contents() {
  bundle::Contents contents;
  contents.hardware = *contract::find_hardware("tiny");
  contents.hardware_name = "tiny";
  contents.shape = {2, 64, 2, 1, 32, 128, 300, 64, 8, 1e-5F};
  contents.model_name = "small";
  contents.model_file_bytes = 12345;
  contents.program = small_program();
  const auto lanes = static_cast<std::size_t>(contents.hardware.lanes * contents.hardware.column_groups);
  contents.lane_word_count = 3;
  contents.kv_word_count = 5;
  contents.lane_words.resize(3 * lanes * contract::kWordBytes);
  for (std::size_t i = 0; i < contents.lane_words.size(); ++i) contents.lane_words[i] = static_cast<std::uint8_t>(i);
  contents.minimum_word_count = 2;
  contents.minimum_words.assign(2 * lanes * contract::kMinimumBytes, 9);
  contents.exponents.assign(8, 250);
  contents.constants = {1.5F, -2.25F, 3e-20F};
  contents.rope.assign(std::size_t{64} * 16 * 2, 0.5F);
  contents.tokenizer_gguf.assign(50, std::byte{77});
  contents.report_json = R"({"fits":true})";
  return contents;
}

}  // namespace lpu::test
