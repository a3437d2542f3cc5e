// Hardware by name, by name with another array, or from a JSON file that describes a device we don't ship.
// The file's keys are HardwareConfig's fields; `lanes`, `column_groups`, `clock_mhz` and `lane_words` must be there,
// what is missing else is derived as for the named configurations. Relies on hls/contract and nlohmann-json.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "hls/contract/describe.hpp"
#include "host/base/error.hpp"
#include "host/compiler/compiler.hpp"

namespace lpu::compiler {

namespace {

std::string known_names() {
  std::string names;
  for (const contract::HardwareConfig& config : contract::kHardwareConfigs)
    names += (names.empty() ? "" : ", ") + std::string(config.name);
  return names;
}

/// Another array in the same memories: what lies behind one port stays as deep, what is shared by all rows keeps its
/// size.
contract::HardwareConfig with_array(contract::HardwareConfig config, int lanes, int groups) {
  const std::int64_t sums = std::int64_t{config.accumulator_entries} * config.lanes;
  config.lanes = lanes;
  config.column_groups = groups;
  if (lanes < 1 || groups < 1 || lanes > 4096 || groups > 256) return config;  // fault_of() says it
  config.vector_lanes = contract::default_vector_lanes(lanes, groups);
  config.softmax_lanes = contract::default_softmax_lanes(lanes, groups);
  config.accumulator_entries = static_cast<int>(std::clamp<std::int64_t>(lanes > 0 ? sums / lanes : 0, 64, 4096));
  return config;
}

void check(const contract::HardwareConfig& config, const std::string& source) {
  if (const char* fault = contract::fault_of(config)) fail(ExitCode::kUsage, "{}: {}", source, fault);
}

int whole_number(const std::string& text, const std::string& source) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
    fail(ExitCode::kUsage, "--hardware {}: '{}' is no number; write NAME:LANESxGROUPS, such as virtual:16x2", source,
         text);
  return std::stoi(text);
}

contract::HardwareConfig from_json(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) fail(ExitCode::kIo, "{}: cannot be read; give a hardware name ({}) or a JSON file", file, known_names());
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(stream);
  } catch (const nlohmann::json::parse_error& error) {
    fail(ExitCode::kBadInput, "{}: byte {}: is not JSON; see docs/hardware_file.md", file, error.byte);
  }
  if (!json.is_object()) fail(ExitCode::kBadInput, "{}: must be one JSON object; see docs/hardware_file.md", file);
  static const std::set<std::string> kKeys = {"name",
                                              "note",
                                              "lanes",
                                              "column_groups",
                                              "vector_lanes",
                                              "softmax_lanes",
                                              "has_minimum",
                                              "clock_mhz",
                                              "lane_words",
                                              "minimum_words",
                                              "accumulator_entries",
                                              "activation_blocks",
                                              "residual_values",
                                              "exponent_words",
                                              "constant_values",
                                              "rope_pairs",
                                              "program_instructions",
                                              "delay_entries"};
  for (const auto& [key, value] : json.items())
    if (!kKeys.contains(key))
      fail(ExitCode::kBadInput, "{}: field '{}' is unknown; see docs/hardware_file.md", file, key);
  const auto number = [&](const char* key, std::optional<int> otherwise) {
    if (!json.contains(key)) {
      if (!otherwise) fail(ExitCode::kBadInput, "{}: field '{}' is missing; see docs/hardware_file.md", file, key);
      return *otherwise;
    }
    const nlohmann::json& value = json[key];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > (1u << 26))
      fail(ExitCode::kBadInput, "{}: field '{}' must be a whole number, 0 to {}", file, key, 1u << 26);
    return value.get<int>();
  };
  contract::HardwareConfig config = *contract::find_hardware("u55c");  // what a file doesn't say is as on a u55c
  config.name = "custom";
  config.note = "from a hardware file";
  config = with_array(config, number("lanes", {}), number("column_groups", {}));
  config.clock_mhz = number("clock_mhz", {});
  config.lane_words = number("lane_words", {});
  if (json.contains("has_minimum")) {
    if (!json["has_minimum"].is_boolean())
      fail(ExitCode::kBadInput, "{}: field 'has_minimum' must be true or false", file);
    config.has_minimum = json["has_minimum"].get<bool>();
  }
  config.minimum_words = number("minimum_words", config.has_minimum ? config.lane_words : 0);
  config.vector_lanes = number("vector_lanes", config.vector_lanes);
  config.softmax_lanes = number("softmax_lanes", config.softmax_lanes);
  config.accumulator_entries = number("accumulator_entries", config.accumulator_entries);
  config.activation_blocks = number("activation_blocks", config.activation_blocks);
  config.residual_values = number("residual_values", config.residual_values);
  config.exponent_words = number("exponent_words", config.exponent_words);
  config.constant_values = number("constant_values", config.constant_values);
  config.rope_pairs = number("rope_pairs", config.rope_pairs);
  config.program_instructions = number("program_instructions", config.program_instructions);
  config.delay_entries = number("delay_entries", config.delay_entries);
  check(config, file);
  return config;
}

}  // namespace

contract::HardwareConfig find_hardware(const std::string& name_or_file) {
  if (name_or_file.size() > 5 && name_or_file.ends_with(".json")) return from_json(name_or_file);
  const std::size_t colon = name_or_file.find(':');
  const contract::HardwareConfig* config = contract::find_hardware(name_or_file.substr(0, colon));
  if (config == nullptr)
    fail(ExitCode::kUsage, "--hardware {}: unknown; known are {}, NAME:LANESxGROUPS, and a FILE.json", name_or_file,
         known_names());
  if (colon == std::string::npos) return *config;
  const std::string array = name_or_file.substr(colon + 1);
  const std::size_t times = array.find('x');
  if (times == std::string::npos)
    fail(ExitCode::kUsage, "--hardware {}: write NAME:LANESxGROUPS, such as virtual:16x2", name_or_file);
  const contract::HardwareConfig changed = with_array(*config, whole_number(array.substr(0, times), name_or_file),
                                                      whole_number(array.substr(times + 1), name_or_file));
  check(changed, "--hardware " + name_or_file);
  return changed;
}

}  // namespace lpu::compiler
