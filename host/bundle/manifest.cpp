// See manifest.hpp. One list of fields for reading and writing, so that the two can't differ.
#include "host/bundle/manifest.hpp"

#include <fmt/format.h>

#include <vector>

#include "hls/contract/describe.hpp"
#include "host/base/error.hpp"
#include "host/bundle/checksum.hpp"
#include "host/bundle/json_fields.hpp"

namespace lpu::bundle {
namespace {

// Visit(key, member, least, most) for each integer of the hardware configuration.
template <typename Config, typename Visit>
void visit_hardware(Config& c, const Visit& visit) {
  constexpr int kMost = 1 << 26;  // fault_of() has the real limits
  visit("lanes", c.lanes, 0, kMost);
  visit("column_groups", c.column_groups, 0, kMost);
  visit("vector_lanes", c.vector_lanes, 0, kMost);
  visit("softmax_lanes", c.softmax_lanes, 0, kMost);
  visit("clock_mhz", c.clock_mhz, 0, kMost);
  visit("lane_words", c.lane_words, 0, kMost);
  visit("minimum_words", c.minimum_words, 0, kMost);
  visit("accumulator_entries", c.accumulator_entries, 0, kMost);
  visit("activation_blocks", c.activation_blocks, 0, kMost);
  visit("residual_values", c.residual_values, 0, kMost);
  visit("exponent_words", c.exponent_words, 0, kMost);
  visit("constant_values", c.constant_values, 0, kMost);
  visit("rope_pairs", c.rope_pairs, 0, kMost);
  visit("program_instructions", c.program_instructions, 0, kMost);
  visit("delay_entries", c.delay_entries, 0, kMost);
}

/// Names of configurations become parts of file names and commands: nothing else may stand in them.
bool is_plain_name(std::string_view name) {
  constexpr std::size_t kMostCharacters = 32;
  return !name.empty() && name.size() <= kMostCharacters &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos && name[0] != '-';
}

void read_hardware(const Fields& fields, Manifest& manifest) {
  manifest.configuration_name = fields.text("name");
  if (!is_plain_name(manifest.configuration_name))
    fields.refuse("name", "isn't 1 to 32 small letters, digits, '_' and '-' (not first)");
  manifest.configuration_note = fields.text("note");
  contract::HardwareConfig& hardware = manifest.hardware;
  hardware.has_minimum = fields.boolean("has_minimum");
  visit_hardware(hardware, [&](const char* key, int& member, std::uint64_t least, std::uint64_t most) {
    member = static_cast<int>(fields.integer(key, least, most));
  });
  if (const char* fault = contract::fault_of(hardware))
    fields.refuse("", std::string("doesn't describe a machine: ") + fault);
}

/// What was compiled for a configuration by its name alone is for that configuration. NAME:LANESxGROUPS and FILE.json
/// are machines of their own.
void check_named(const Fields& fields, const Manifest& manifest) {
  const contract::HardwareConfig* const named = contract::find_hardware(manifest.configuration_name);
  if (named == nullptr || manifest.hardware_name != manifest.configuration_name) return;
  const auto differs = [&](const char* key, const auto& found, const auto& wanted) {
    if (found != wanted)
      fields.refuse(key, fmt::format("is {}, but configuration \"{}\" has {}", found, named->name, wanted));
  };
  differs("has_minimum", manifest.hardware.has_minimum, named->has_minimum);
  std::vector<int> wanted;  // in the order of the fields
  visit_hardware(*named, [&](const char*, int value, int, int) { wanted.push_back(value); });
  auto next = wanted.begin();
  visit_hardware(manifest.hardware, [&](const char* key, int value, int, int) { differs(key, value, *next++); });
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  Json hardware = {{"name", manifest.configuration_name}, {"note", manifest.configuration_note}};
  hardware["has_minimum"] = manifest.hardware.has_minimum;
  visit_hardware(manifest.hardware, [&](const char* key, int value, int, int) { hardware[key] = value; });
  Json files = Json::object();
  for (std::size_t i = 0; i < kSectionFiles.size(); ++i)
    files[std::string(kSectionFiles[i])] = {{"bytes", manifest.files[i].bytes},
                                            {"crc32", crc32_text(manifest.files[i].crc32)}};
  Json report = Json::parse(manifest.report_json, nullptr, false);
  if (report.is_discarded()) fail(ExitCode::kInternal, "The compiler's report isn't JSON, so no bundle was written.");

  const Json whole = {{"format", kFormatName},
                      {"format_version", kFormatVersion},
                      {"contract", fmt::format("{:016x}", manifest.contract_hash)},
                      {"hardware_name", manifest.hardware_name},
                      {"hardware", hardware},
                      {"model_name", manifest.model_name},
                      {"model_file_bytes", manifest.model_file_bytes},
                      {"shape", shape_json(manifest.shape)},
                      {"lane_word_count", manifest.lane_word_count},
                      {"kv_word_count", manifest.kv_word_count},
                      {"minimum_word_count", manifest.minimum_word_count},
                      {"files", files},
                      {"report", report}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest parse_manifest(std::string_view text, const std::string& name) {
  const Json whole = parse_json(text, kManifestLimitBytes, name);
  const Fields fields(whole, "", name);
  check_format(fields, kFormatName);
  Manifest manifest;
  manifest.contract_hash = fields.hexadecimal("contract", 16);
  manifest.hardware_name = fields.text("hardware_name");
  manifest.model_name = fields.text("model_name");
  check_contract(manifest.contract_hash, manifest.hardware_name, name);

  read_hardware(fields.object("hardware"), manifest);
  check_named(fields.object("hardware"), manifest);
  manifest.shape = read_shape(fields.object("shape"));
  constexpr std::uint64_t kAny = std::uint64_t{1} << 48;
  manifest.model_file_bytes = fields.integer("model_file_bytes", 0, kAny);
  manifest.lane_word_count =
      fields.integer("lane_word_count", 0, static_cast<std::uint64_t>(manifest.hardware.lane_words));
  manifest.kv_word_count = fields.integer(
      "kv_word_count", 0, static_cast<std::uint64_t>(manifest.hardware.lane_words) - manifest.lane_word_count);
  manifest.minimum_word_count =
      fields.integer("minimum_word_count", 0, static_cast<std::uint64_t>(manifest.hardware.minimum_words));
  const Fields files = fields.object("files");
  for (std::size_t i = 0; i < kSectionFiles.size(); ++i) {
    const Fields entry = files.object(std::string(kSectionFiles[i]));
    manifest.files[i].bytes = entry.integer("bytes", 0, kAny);
    manifest.files[i].crc32 = static_cast<std::uint32_t>(entry.hexadecimal("crc32", 8));
  }
  manifest.report_json = fields.value("report").dump(-1, ' ', false, Json::error_handler_t::replace);
  return manifest;
}

}  // namespace lpu::bundle
