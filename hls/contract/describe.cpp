// The contract as text, printed from the typed constants and field lists of this folder. See describe.hpp.
#include "hls/contract/describe.hpp"

#include <cstdio>
#include <vector>

#include "hls/contract/instructions.hpp"
#include "hls/contract/latencies.hpp"
#include "hls/contract/link.hpp"
#include "hls/contract/memory_map.hpp"
#include "hls/contract/number_formats.hpp"

namespace lpu {
namespace contract {
namespace {

struct Named {
  const char* name;
  long long value;
};
struct Field {
  const char* name;
  int bits;
};

#define LPU_NAMED(constant) \
  { #constant, static_cast < long long>(constant) }
std::vector<Named> number_constants() {
  return {LPU_NAMED(kBlockValues),         LPU_NAMED(kWordDataBits),       LPU_NAMED(kWordSideBits),
          LPU_NAMED(kMinimumMantissaBits), LPU_NAMED(kMinimumShiftBits),   LPU_NAMED(kMinimumFractionBits),
          LPU_NAMED(kMantissaBits),        LPU_NAMED(kMantissaMax),        LPU_NAMED(kWindowBinades),
          LPU_NAMED(kExponentBits),        LPU_NAMED(kWindowLow),          LPU_NAMED(kScaleBits),
          LPU_NAMED(kAccumulatorBits),     LPU_NAMED(kMaxColumns),         LPU_NAMED(kRowExponentBits),
          LPU_NAMED(kKvMantissaBits),      LPU_NAMED(kKvMantissaBitsWide), LPU_NAMED(kKvScaleMax),
          LPU_NAMED(kScoreFractionBits),   LPU_NAMED(kScoreBits),          LPU_NAMED(kPowerBits),
          LPU_NAMED(kPowerFractionBits),   LPU_NAMED(kSoftmaxDepth),       LPU_NAMED(kSquareFractionBits),
          LPU_NAMED(kSquareBits),          LPU_NAMED(kBestLogits),         LPU_NAMED(kLogSumBuckets),
          LPU_NAMED(kLogSumLow),           LPU_NAMED(kMaxRounds),          LPU_NAMED(kInstructionBits),
          LPU_NAMED(kLoopWords),           LPU_NAMED(kUltraRamWords),      LPU_NAMED(kMaxSegments),
          LPU_NAMED(kNoiseLanes),          LPU_NAMED(kNoiseQueueSlices),   LPU_NAMED(kBlockExponentBits)};
}
std::vector<Named> latency_constants() {
  return {LPU_NAMED(kConvertCycles),
          LPU_NAMED(kMultiplyCycles),
          LPU_NAMED(kAddCycles),
          LPU_NAMED(kQuantiseCycles),
          LPU_NAMED(kWriteCycles),
          LPU_NAMED(kTableCycles),
          LPU_NAMED(kMatvecCycles),
          LPU_NAMED(kResidualCycles),
          LPU_NAMED(kResidualBlockCycles),
          LPU_NAMED(kEmbedFetchCycles),
          LPU_NAMED(kNormCycles),
          LPU_NAMED(kRotaryCycles),
          LPU_NAMED(kBiasCycles),
          LPU_NAMED(kQueryCycles),
          LPU_NAMED(kFitCycles),
          LPU_NAMED(kKeyCycles),
          LPU_NAMED(kValueCycles),
          LPU_NAMED(kMixCycles),
          LPU_NAMED(kSwigluCycles),
          LPU_NAMED(kLogitCycles),
          LPU_NAMED(kNoiseCycles),
          LPU_NAMED(kNoiseTakeCycles),
          LPU_NAMED(kSoftmaxBlockCycles),
          LPU_NAMED(kSoftmaxRowCycles),
          LPU_NAMED(kReciprocalCycles),
          LPU_NAMED(kValuePortCycles),
          LPU_NAMED(kValueScaleReadCycles),
          LPU_NAMED(kValueScaleWriteCycles),
          LPU_NAMED(kWordReuseCycles),
          LPU_NAMED(kIssueLeadCycles)};
}
std::vector<Named> regions() {
  return {
      {"LaneWords", static_cast<int>(Region::kLaneWords)}, {"MinimumWords", static_cast<int>(Region::kMinimumWords)},
      {"Exponents", static_cast<int>(Region::kExponents)}, {"Constants", static_cast<int>(Region::kConstants)},
      {"Rope", static_cast<int>(Region::kRope)},           {"Instructions", static_cast<int>(Region::kInstructions)},
      {"Loops", static_cast<int>(Region::kLoops)},         {"Delays", static_cast<int>(Region::kDelays)},
      {"Control", static_cast<int>(Region::kControl)}};
}
struct Control {
  const char* name;
  int word;
  const char* access;
  const char* meaning;
};
#define LPU_CONTROL(name, word, access, meaning) {#name, word, access, meaning},
std::vector<Control> control_registers() { return {LPU_CONTROL_REGISTERS(LPU_CONTROL)}; }
#undef LPU_CONTROL
#define LPU_ERROR(name, number, sentence) {#name, number},
std::vector<Named> card_errors() { return {LPU_CARD_ERRORS(LPU_ERROR)}; }
std::vector<Named> link_errors() { return {LPU_LINK_ERRORS(LPU_ERROR)}; }
#undef LPU_ERROR
std::vector<Named> link_constants() {
  return {LPU_NAMED(kLinkMagic),         LPU_NAMED(kMaxLinkBlocks),  LPU_NAMED(kLinkBlockBits),
          LPU_NAMED(kLinkHeaderBits),    LPU_NAMED(kLinkCrcBits),    LPU_NAMED(kLinkSendCycles),
          LPU_NAMED(kLinkReceiveCycles), LPU_NAMED(kLinkTakeCycles), LPU_NAMED(kLinkCheckCycles)};
}
std::vector<Named> opcodes() {
  return {{"Matvec", static_cast<int>(Opcode::kMatvec)},     {"Embed", static_cast<int>(Opcode::kEmbed)},
          {"Residual", static_cast<int>(Opcode::kResidual)}, {"Query", static_cast<int>(Opcode::kQuery)},
          {"Key", static_cast<int>(Opcode::kKey)},           {"Value", static_cast<int>(Opcode::kValue)},
          {"Mix", static_cast<int>(Opcode::kMix)},           {"Swiglu", static_cast<int>(Opcode::kSwiglu)},
          {"Logits", static_cast<int>(Opcode::kLogits)},     {"Softmax", static_cast<int>(Opcode::kSoftmax)},
          {"Receive", static_cast<int>(Opcode::kReceive)}};
}
#undef LPU_NAMED

#define LPU_FIELD(name, bits) {#name, bits},
std::vector<Field> common_fields() { return {LPU_COMMON_FIELDS(LPU_FIELD)}; }
std::vector<Field> matvec_fields() { return {LPU_MATVEC_FIELDS(LPU_FIELD)}; }
std::vector<Field> vector_fields() { return {LPU_VECTOR_FIELDS(LPU_FIELD)}; }
std::vector<Field> softmax_fields() { return {LPU_SOFTMAX_FIELDS(LPU_FIELD)}; }
std::vector<Field> loop_fields() { return {LPU_LOOP_FIELDS(LPU_FIELD)}; }
std::vector<Field> link_header_fields() { return {LPU_LINK_HEADER_FIELDS(LPU_FIELD)}; }
#undef LPU_FIELD

/// "activation_address" → "ActivationAddress"
std::string camel(const std::string& snake) {
  std::string out;
  bool upper = true;
  for (const char c : snake) {
    if (c == '_') {
      upper = true;
    } else {
      out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
  }
  return out;
}

std::string parameter(const std::string& name, long long value) {
  return "  localparam int " + name + " = " + std::to_string(value) + ";\n";
}

std::string fields_in_systemverilog(const char* format, const std::vector<Field>& head,
                                    const std::vector<Field>& body) {
  std::string out = std::string("\n  // ") + format + ": least significant bit and width of each field\n";
  int at = 0;
  for (const Field& field : head) at += field.bits;
  for (const Field& field : body) {
    out += parameter(std::string(format) + camel(field.name) + "Lsb", at);
    out += parameter(std::string(format) + camel(field.name) + "Width", field.bits);
    at += field.bits;
  }
  return out;
}

std::string package_body() {
  std::string out;
  out += "  // numbers (hls/contract/number_formats.hpp)\n";
  for (const Named& constant : number_constants()) out += parameter(constant.name + 1, constant.value);
  out += "\n  // latencies in cycles (hls/contract/latencies.hpp)\n";
  for (const Named& constant : latency_constants()) out += parameter(constant.name + 1, constant.value);
  out += "\n  // opcodes (hls/contract/instructions.hpp)\n";
  for (const Named& opcode : opcodes()) out += parameter(std::string("Opcode") + opcode.name, opcode.value);
  out += "\n  // memory map of the host port (hls/contract/memory_map.hpp)\n" + parameter("RegionShift", kRegionShift);
  for (const Named& region : regions()) out += parameter(std::string("Region") + region.name, region.value);
  out += "\n  // control registers: word numbers in RegionControl\n";
  for (const Control& control : control_registers())
    out += parameter(std::string("Control") + control.name, control.word);
  out += "\n  // card errors\n";
  for (const Named& error : card_errors()) out += parameter(std::string("Error") + error.name, error.value);
  out += fields_in_systemverilog("Common", {}, common_fields());
  out += fields_in_systemverilog("Matvec", common_fields(), matvec_fields());
  out += fields_in_systemverilog("Vector", common_fields(), vector_fields());
  out += fields_in_systemverilog("Softmax", common_fields(), softmax_fields());
  out += fields_in_systemverilog("Loop", {}, loop_fields());
  out += "\n  // vectors between cards (hls/contract/link.hpp)\n";
  for (const Named& constant : link_constants()) out += parameter(constant.name + 1, constant.value);
  char polynomial[64];
  std::snprintf(polynomial, sizeof polynomial, "  localparam logic [31:0] LinkCrcPolynomial = 32'h%08x;\n",
                static_cast<unsigned>(kLinkCrcPolynomial));
  out += polynomial;
  for (const Named& error : link_errors()) out += parameter(std::string("LinkError") + error.name, error.value);
  out += fields_in_systemverilog("LinkHeader", {}, link_header_fields());
  for (const HardwareConfig& c : kHardwareConfigs) {
    const std::string prefix = camel(c.name);
    out += std::string("\n  // ") + c.name + ": " + c.note + "\n";
    const Named values[] = {{"Lanes", c.lanes},
                            {"ColumnGroups", c.column_groups},
                            {"VectorLanes", c.vector_lanes},
                            {"SoftmaxLanes", c.softmax_lanes},
                            {"HasMinimum", c.has_minimum},
                            {"ClockMhz", c.clock_mhz},
                            {"LaneWords", c.lane_words},
                            {"MinimumWords", c.minimum_words},
                            {"AccumulatorEntries", c.accumulator_entries},
                            {"ActivationBlocks", c.activation_blocks},
                            {"ResidualValues", c.residual_values},
                            {"ExponentWords", c.exponent_words},
                            {"ConstantValues", c.constant_values},
                            {"RopePairs", c.rope_pairs},
                            {"ProgramInstructions", c.program_instructions},
                            {"DelayEntries", c.delay_entries}};
    for (const Named& value : values) out += parameter(prefix + value.name, value.value);
  }
  return out;
}

void add_table(std::string& out, const char* title, const std::vector<Field>& fields, int at) {
  out += std::string("\n### ") + title + "\n\n| field | bits | from bit |\n|---|---|---|\n";
  for (const Field& field : fields) {
    out += std::string("| `") + field.name + "` | " + std::to_string(field.bits) + " | " + std::to_string(at) + " |\n";
    at += field.bits;
  }
}

}  // namespace

std::string systemverilog_package() {
  return "// Printed by lpu_print_contract from hls/contract/: do not edit, run scripts/print_contract.sh.\n"
         "// The agreement of all sides: number formats, latencies, instruction fields, named configurations.\n"
         "package lpu_pkg;\n" +
         package_body() + "\n  localparam logic [63:0] ContractHash = 64'h" + contract_hash_text() + ";\nendpackage\n";
}

std::string isa_tables() {
  std::string out;
  out += "\n### Opcodes\n\n| opcode | number |\n|---|---|\n";
  for (const Named& opcode : opcodes())
    out += std::string("| k") + opcode.name + " | " + std::to_string(opcode.value) + " |\n";
  add_table(out, "Every instruction", common_fields(), 0);
  add_table(out, "Matvec", matvec_fields(), kCommonBits);
  add_table(out, "Vector instructions", vector_fields(), kCommonBits);
  add_table(out, "Softmax", softmax_fields(), kCommonBits);
  add_table(out, "Loop", loop_fields(), 0);
  out += "\n### Memory map of the host port\n\nA region's first byte address is its number << " +
         std::to_string(kRegionShift) +
         "; its elements follow in the order of a bundle's section.\n\n| region | number |\n|---|---|\n";
  for (const Named& region : regions())
    out += std::string("| ") + region.name + " | " + std::to_string(region.value) + " |\n";
  out +=
      "\n### Control registers\n\n32-bit words of region Control, at byte offset 4 × word.\n\n"
      "| register | word | access | holds |\n|---|---|---|---|\n";
  for (const Control& control : control_registers())
    out += std::string("| ") + control.name + " | " + std::to_string(control.word) + " | " + control.access + " | " +
           control.meaning + " |\n";
  out += "\n### Card errors\n\n| error | number | what happened, what to do |\n|---|---|---|\n";
  for (const Named& error : card_errors())
    out += std::string("| ") + error.name + " | " + std::to_string(error.value) + " | " +
           describe(static_cast<CardError>(error.value)) + " |\n";
  add_table(out, "Header of a vector between cards", link_header_fields(), 0);
  out += "\n### Link errors\n\n| error | number | what happened, what to do |\n|---|---|---|\n";
  for (const Named& error : link_errors())
    out += std::string("| ") + error.name + " | " + std::to_string(error.value) + " | " +
           describe(static_cast<LinkError>(error.value)) + " |\n";
  out += "\n### Cycles of the link units\n\n| constant | cycles |\n|---|---|\n";
  for (const Named& constant : link_constants()) {
    const std::string name = constant.name;
    if (name.find("Cycles") != std::string::npos)
      out += "| `" + name + "` | " + std::to_string(constant.value) + " |\n";
  }
  out += "\n### Latencies\n\n| constant | cycles |\n|---|---|\n";
  for (const Named& constant : latency_constants())
    out += std::string("| `") + constant.name + "` | " + std::to_string(constant.value) + " |\n";
  return out;
}

std::uint64_t contract_hash() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : package_body()) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

std::string contract_hash_text() {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(contract_hash()));
  return text;
}

const HardwareConfig* find_hardware(const std::string& name) {
  for (const HardwareConfig& config : kHardwareConfigs)
    if (name == config.name) return &config;
  return nullptr;
}

}  // namespace contract
}  // namespace lpu
