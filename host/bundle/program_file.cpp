// See program_file.hpp.
#include "host/bundle/program_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "host/base/error.hpp"
#include "host/bundle/layout.hpp"

namespace lpu::bundle {
namespace {

using contract::Instruction;
using contract::Loop;
using contract::Opcode;
using contract::Unit;
static_assert(std::endian::native == std::endian::little, "bundle files are copied to and from memory as they are");

constexpr std::size_t kHeaderWords = 6;
constexpr std::uint32_t kRowsAlone = 2;                        ///< cycles with the head, without it
constexpr std::uint32_t kRowsOfGroup = contract::kPhases - 1;  ///< cycles of each phase
constexpr std::uint32_t kDelayLimitCycles = (1U << 24) - 1;

void append(std::vector<std::byte>& out, std::span<const std::uint32_t> words) {
  const auto bytes = std::as_bytes(words);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// The file as words, with errors that name field and offset.
class Words {
 public:
  Words(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void refuse(std::size_t word, std::string_view field, const std::string& problem) const {
    fail(ExitCode::kBadInput, "{}: {} at byte {} {}; compile the model again", name_, field, word * 4, problem);
  }
  /// The next word.
  std::uint32_t take() {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at_ * 4, 4);
    ++at_;
    return value;
  }
  std::uint32_t take_count(std::string_view field, std::uint32_t least, std::uint32_t most) {
    const std::uint32_t value = take();
    if (value < least || value > most)
      refuse(at_ - 1, field, fmt::format("is {}, but must be {} to {}", value, least, most));
    return value;
  }
  template <std::size_t N>
  std::array<std::uint32_t, N> take_array() {
    std::array<std::uint32_t, N> words;
    for (std::uint32_t& word : words) word = take();
    return words;
  }
  std::vector<std::uint32_t> take_cycles(std::string_view field, std::size_t count, std::uint32_t least) {
    std::vector<std::uint32_t> words(count);
    for (std::uint32_t& word : words) word = take_count(field, least, kDelayLimitCycles);
    return words;
  }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return bytes_.size(); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

/// What can be said of one instruction without knowing the rest of the program.
const char* fault_of(const Instruction& in, const contract::HardwareConfig& hardware, std::uint32_t delay_rows) {
  const auto splits = [&](std::uint32_t segments) {
    return contract::may_have_segments(hardware.column_groups, segments);
  };
  if (in.common.delay_by_length != 0 && in.common.delay >= delay_rows) return "names a delay row that isn't there";
  switch (contract::unit_of(in.opcode())) {
    case Unit::kMvu:
      if (!splits(in.matvec.segments))
        return "has segments that don't divide the column groups, or more than have accumulators";
      if (in.matvec.nibbles == 0) return "has blocks of no words";
      if (in.matvec.length_dimension > 2) return "follows the context in an unknown dimension";
      if (in.matvec.has_minimum != 0 && !hardware.has_minimum)
        return "reads a minimum memory that the hardware doesn't have";
      if (in.matvec.activation_address >= static_cast<std::uint32_t>(hardware.activation_blocks))
        return "reads activations beyond their memory";
      if (in.matvec.accumulator >= static_cast<std::uint32_t>(hardware.accumulator_entries))
        return "uses an accumulator that isn't there";
      return nullptr;
    case Unit::kVpu:
      if (in.opcode() != Opcode::kEmbed && !splits(in.vector.segments))
        return "has segments that don't divide the column groups, or more than have accumulators";
      if (in.vector.has_minimum != 0 && !hardware.has_minimum)
        return "reads a minimum memory that the hardware doesn't have";
      if (in.vector.accumulator >= static_cast<std::uint32_t>(hardware.accumulator_entries))
        return "uses an accumulator that isn't there";
      return nullptr;
    case Unit::kSmx:
      if (!splits(in.softmax.segments))
        return "has segments that don't divide the column groups, or more than have accumulators";
      if (in.softmax.accumulator >= static_cast<std::uint32_t>(hardware.accumulator_entries))
        return "uses an accumulator that isn't there";
      return nullptr;
  }
  return "belongs to no unit";
}

/// A card alone runs whole tokens, a card of a group phases.
const char* phase_fault(const Loop& loop, bool is_of_group) {
  const bool is_whole = loop.phase == static_cast<std::uint32_t>(contract::Phase::kToken);
  if (is_whole == !is_of_group) return nullptr;
  return is_of_group ? "belongs to no phase, but the card to a group" : "belongs to a phase, but the card to no group";
}

std::vector<Loop> take_loops(Words& words, std::uint32_t loops, std::uint32_t instructions, std::uint32_t delay_rows,
                             bool is_of_group) {
  std::vector<Loop> result;
  result.reserve(loops);
  std::uint32_t next = 0;
  bool in_head = false;
  for (std::uint32_t i = 0; i < loops; ++i) {
    const std::size_t at = words.position();
    const auto packed = words.take_array<contract::kLoopWords>();
    const Loop loop = contract::unpack_loop(packed.data());
    std::array<std::uint32_t, contract::kLoopWords> again;
    contract::pack(loop, again.data());
    const std::string field = fmt::format("loop {}", i);
    if (again != packed) words.refuse(at, field, "has bits set beyond its fields");
    if (loop.first_instruction != next || loop.instruction_count == 0 || loop.instruction_count > instructions - next)
      words.refuse(at, field,
                   fmt::format("holds instructions {} + {}, but should go on at {} of {}", loop.first_instruction,
                               loop.instruction_count, next, instructions));
    if (loop.iterations == 0) words.refuse(at, field, "has no iterations");
    if (const char* fault = phase_fault(loop, is_of_group)) words.refuse(at, field, fault);
    if (in_head && loop.is_head == 0) words.refuse(at, field, "follows the head but isn't part of it");
    for (const std::uint32_t row : {loop.entry_delay_mvu, loop.entry_delay_vpu, loop.entry_delay_smx}) {
      if (row != contract::kNoEntryDelay && row >= delay_rows)
        words.refuse(at, field, fmt::format("names delay row {} of {}", row, delay_rows));
    }
    next += loop.instruction_count;
    in_head = loop.is_head != 0;
    result.push_back(loop);
  }
  if (next != instructions)
    words.refuse(2, "the number of loops",
                 fmt::format("leaves instructions {} to {} in no loop", next, instructions - 1));
  return result;
}

}  // namespace

std::vector<std::byte> program_bytes(const contract::Program& program) {
  std::vector<std::byte> out;
  const std::size_t rows = program.length_steps == 0 ? 0 : program.delays.size() / program.length_steps;
  const std::array<std::uint32_t, kHeaderWords> header = {kProgramMagic,
                                                          static_cast<std::uint32_t>(program.instructions.size()),
                                                          static_cast<std::uint32_t>(program.loops.size()),
                                                          static_cast<std::uint32_t>(rows),
                                                          program.length_steps,
                                                          program.length_rows()};
  append(out, header);
  for (const Loop& loop : program.loops) {
    std::array<std::uint32_t, contract::kLoopWords> words;
    contract::pack(loop, words.data());
    append(out, words);
  }
  for (const Instruction& instruction : program.instructions) {
    if (const char* field = contract::overflowing_field(instruction))
      fail(ExitCode::kInternal, "Field {} of a compiled instruction doesn't fit its width.", field);
    std::array<std::uint32_t, contract::kInstructionWords> words;
    contract::pack(instruction, words.data());
    append(out, words);
  }
  append(out, program.delays);
  append(out, program.cycles_with_head);
  append(out, program.cycles_without_head);
  for (const auto& cycles : program.phase_cycles) append(out, cycles);
  return out;
}

contract::Program parse_program(std::span<const std::byte> bytes, const contract::HardwareConfig& hardware,
                                std::uint32_t context_tokens, const std::string& name) {
  Words words(bytes, name);
  if (bytes.size() < kHeaderWords * 4)
    words.refuse(0, "the header", fmt::format("needs {} bytes, but the file has {}", kHeaderWords * 4, bytes.size()));
  if (words.take() != kProgramMagic) words.refuse(0, "the magic number", "isn't \"LPPG\"");
  const auto most_instructions = std::min(kInstructionLimit, static_cast<std::uint32_t>(hardware.program_instructions));
  const std::uint32_t instructions = words.take_count("the number of instructions", 1, most_instructions);
  const std::uint32_t loops = words.take_count("the number of loops", 1, std::min(kLoopLimit, instructions));
  const std::uint32_t rows = words.take_count("the number of delay rows", 0, kDelayLimit);
  const std::uint32_t steps = (context_tokens + 31) / 32;
  if (const std::uint32_t found = words.take(); found != steps)
    words.refuse(4, "the number of length steps",
                 fmt::format("is {}, but a context of {} tokens has {}", found, context_tokens, steps));
  const std::uint32_t length_rows = words.take_count("the number of length rows", kRowsAlone, kRowsOfGroup);
  const std::uint64_t delays = std::uint64_t{rows} * steps, lengths = std::uint64_t{length_rows} * steps;
  // The card keeps the rows of lengths behind the table.
  if (const std::uint64_t kept = delays + lengths; kept > static_cast<std::uint64_t>(hardware.delay_entries))
    words.refuse(3, "the number of delay rows",
                 fmt::format("makes {} delays with the {} rows of lengths, more than the hardware's {}", kept,
                             length_rows, hardware.delay_entries));
  const std::uint64_t size_bytes = 4 * (kHeaderWords + std::uint64_t{loops} * contract::kLoopWords +
                                        std::uint64_t{instructions} * contract::kInstructionWords + delays + lengths);
  if (bytes.size() != size_bytes)
    words.refuse(
        bytes.size() / 4, "the end",
        fmt::format("is wrong: the counts in the header make {} bytes, the file has {}", size_bytes, bytes.size()));

  contract::Program program;
  program.length_steps = steps;
  program.loops = take_loops(words, loops, instructions, rows, length_rows == kRowsOfGroup);
  program.instructions.reserve(instructions);
  for (std::uint32_t i = 0; i < instructions; ++i) {
    const std::size_t at = words.position();
    const auto packed = words.take_array<contract::kInstructionWords>();
    const Instruction instruction = contract::unpack(packed.data());
    const std::string field = fmt::format("instruction {}", i);
    if (instruction.common.opcode >= contract::kOpcodes)
      words.refuse(at, field, fmt::format("has the unknown opcode {}", instruction.common.opcode));
    std::array<std::uint32_t, contract::kInstructionWords> again;
    contract::pack(instruction, again.data());
    if (again != packed) words.refuse(at, field, "has bits set beyond its fields");
    if (const char* fault = fault_of(instruction, hardware, rows)) words.refuse(at, field, fault);
    program.instructions.push_back(instruction);
  }
  program.delays = words.take_cycles("a delay", delays, 0);
  if (length_rows == kRowsAlone) {
    program.cycles_with_head = words.take_cycles("a token's cycles", steps, 1);
    program.cycles_without_head = words.take_cycles("a token's cycles", steps, 1);
  } else {
    for (const contract::Phase phase : {contract::Phase::kEmbedding, contract::Phase::kLayers, contract::Phase::kHead})
      program.phase_cycles[static_cast<std::size_t>(phase)] = words.take_cycles("a phase's cycles", steps, 1);
  }
  return program;
}

}  // namespace lpu::bundle
