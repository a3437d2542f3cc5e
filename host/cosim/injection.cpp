// See injection.hpp.
#include "host/cosim/injection.hpp"

#include <charconv>
#include <map>
#include <set>

#include "host/base/error.hpp"

namespace lpu::cosim {
namespace {

using contract::Region;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  fail(ExitCode::kUsage, "--inject {}: {} (kinds: lpu cosim --help).", text, why);
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

class Parser {
 public:
  Parser(const std::string& text, const bundle::Bundle& bundle)
      : text_(text), bundle_(bundle), parts_(parts_of(text)) {}

  Injection parse() {
    static const std::map<std::string, Region> kRegions = {{"weight", Region::kLaneWords},
                                                           {"minimum", Region::kMinimumWords},
                                                           {"exponent", Region::kExponents},
                                                           {"constant", Region::kConstants},
                                                           {"rope", Region::kRope}};
    const std::string& kind = parts_[0];
    if (const auto region = kRegions.find(kind); region != kRegions.end())
      memory(region->second);
    else if (kind == "delay")
      delay();
    else if (kind == "opcode")
      opcode();
    else if (kind == "instruction")
      instruction();
    else if (kind == "activation")
      activation();
    else
      refuse(text_, "\"" + kind + "\" is no kind of fault");
    return out_;
  }

 private:
  void expect_parts(std::size_t count) const {
    if (parts_.size() != count) refuse(text_, fmt::format("{} numbers are wanted after the kind", count - 1));
  }
  [[nodiscard]] std::int64_t number(std::size_t part, std::int64_t least, std::int64_t most) const {
    const std::string& digits = parts_[part];
    const char* first = digits.data() + (digits.starts_with('+') ? 1 : 0);
    const char* const end = digits.data() + digits.size();
    std::int64_t value = 0;
    const auto [after, error] = std::from_chars(first, end, value);
    if (error != std::errc() || after != end || value < least || value > most)
      refuse(text_, fmt::format("\"{}\" isn't a whole number from {} to {}", digits, least, most));
    return value;
  }
  [[nodiscard]] std::uint32_t pc() const {
    const std::size_t count = bundle_.program().instructions.size();
    return static_cast<std::uint32_t>(number(1, 0, static_cast<std::int64_t>(count) - 1));
  }

  void flip(Region region, std::uint64_t first_byte, std::int64_t bit) {
    out_.image.push_back(
        {region, first_byte + static_cast<std::uint64_t>(bit / 8), static_cast<std::uint8_t>(1U << (bit % 8))});
  }

  void memory(Region region) {
    expect_parts(3);
    const contract::MemoryImage image = bundle_.image();
    const std::uint64_t counts[] = {image.lane_word_count, image.minimum_word_count, image.exponent_word_count,
                                    image.constant_count, image.rope_pair_count};
    const auto count = static_cast<std::int64_t>(counts[static_cast<std::size_t>(region)]);
    const std::int64_t bytes = element_bytes(region, bundle_.hardware());
    if (count == 0) refuse(text_, "the bundle has nothing in this memory");
    const std::int64_t address = number(1, 0, count - 1);
    flip(region, static_cast<std::uint64_t>(address * bytes), number(2, 0, 8 * bytes - 1));
  }

  void opcode() {
    expect_parts(3);
    field(pc(), 0, 4, static_cast<std::uint32_t>(number(2, 0, 15)));
  }
  void field(std::uint32_t index, int at, int bits, std::uint32_t value) {
    const std::vector<card::ImageFault> faults =
        card::instruction_fault(bundle_.program().instructions[index], index, at, bits, value);
    out_.image.insert(out_.image.end(), faults.begin(), faults.end());
  }

  void instruction() {
    expect_parts(3);
    const std::uint64_t bytes = contract::kInstructionWords * 4;
    flip(Region::kInstructions, pc() * bytes, number(2, 0, contract::kInstructionBits - 1));
  }

  /// The delay itself, or the rows of the delay table that stand for it; an entry delay counts, too.
  void delay() {
    expect_parts(3);
    const contract::Program& program = bundle_.program();
    const std::uint32_t index = pc();
    const std::int64_t change = number(2, -(1 << 20), 1 << 20);
    const contract::Instruction& in = program.instructions[index];
    const auto changed = [&](std::uint32_t value, std::int64_t most) {
      const std::int64_t sum = value + change;
      if (sum < 0 || sum > most) refuse(text_, fmt::format("the delay of {} would become {}", value, sum));
      return static_cast<std::uint32_t>(sum);
    };
    std::set<std::uint32_t> rows;
    if (in.common.delay_by_length != 0)
      rows.insert(in.common.delay);
    else
      field(index, 4, 24, changed(in.common.delay, (1 << 24) - 1));
    for (const contract::Loop& loop : program.loops) {
      const std::uint32_t entries[] = {loop.entry_delay_mvu, loop.entry_delay_vpu, loop.entry_delay_smx};
      if (index < loop.first_instruction || index >= loop.first_instruction + loop.instruction_count) continue;
      bool is_first = true;
      for (std::uint32_t i = loop.first_instruction; i < index; ++i)
        if (unit_of(program.instructions[i].opcode()) == unit_of(in.opcode())) is_first = false;
      if (is_first) rows.insert(entries[static_cast<std::size_t>(unit_of(in.opcode()))]);
    }
    for (const std::uint32_t row : rows)
      for (std::uint32_t step = 0; step < program.length_steps; ++step) {
        const std::uint32_t entry = row * program.length_steps + step;
        const std::uint32_t flips = program.delays[entry] ^ changed(program.delays[entry], 0x7FFFFFFF);
        for (int bit = 0; bit < 32; ++bit)
          if ((flips >> bit & 1U) != 0) flip(Region::kDelays, std::uint64_t{entry} * contract::kDelayBytes, bit);
      }
  }

  void activation() {
    expect_parts(4);
    const contract::HardwareConfig& config = bundle_.hardware();
    ActivationFault fault;
    fault.bank = static_cast<std::uint32_t>(number(1, 0, config.column_groups - 1));
    fault.address = static_cast<std::uint32_t>(number(2, 0, config.activation_blocks - 1));
    fault.bit = static_cast<std::uint32_t>(number(3, 0, contract::kActivationBlockBits - 1));
    out_.activation = fault;
  }

  const std::string& text_;
  const bundle::Bundle& bundle_;
  const std::vector<std::string> parts_;
  Injection out_;
};

}  // namespace

Injection parse_injection(const std::string& text, const bundle::Bundle& bundle) {
  return Parser(text, bundle).parse();
}

}  // namespace lpu::cosim
