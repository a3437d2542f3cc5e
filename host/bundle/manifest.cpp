// See manifest.hpp. One list of fields for reading and writing, so that the two can't differ.
#include "host/bundle/manifest.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "hls/contract/describe.hpp"
#include "host/base/error.hpp"
#include "host/bundle/checksum.hpp"

namespace lpu::bundle {
namespace {

using Json = nlohmann::ordered_json;

// Visit(key, member, least, most) for each integer of the hardware configuration, and for each of the model's shape.
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

template <typename Shape, typename Visit>
void visit_shape(Shape& s, const Visit& visit) {
  visit("layers", s.layers, 1, 1024);
  visit("width", s.width, 32, contract::kMaxColumns);
  visit("heads", s.heads, 1, 4096);
  visit("kv_heads", s.kv_heads, 1, 4096);
  visit("head_size", s.head_size, 2, 256);
  visit("ffn_width", s.ffn_width, 32, contract::kMaxColumns);
  visit("vocabulary", s.vocabulary, 1, 1 << 20);
  visit("context_tokens", s.context_tokens, 1, kContextLimitTokens);
  visit("kv_bits", s.kv_bits, contract::kKvMantissaBits, contract::kKvMantissaBitsWide);
}

/// An object of the manifest whose missing or ill-typed fields are errors that name them.
class Fields {
 public:
  Fields(const Json& object, std::string path, const std::string& name)
      : object_(object), path_(std::move(path)), name_(name) {
    if (!object_.is_object()) refuse("", "isn't an object");
  }

  [[noreturn]] void refuse(std::string_view key, const std::string& problem) const {
    fail(ExitCode::kBadInput, "{}: field '{}{}' {}; compile the model again", name_, path_, key, problem);
  }
  [[nodiscard]] const Json& value(const std::string& key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(key, "is missing");
    return *found;
  }
  [[nodiscard]] Fields object(const std::string& key) const { return {value(key), path_ + key + ".", name_}; }
  [[nodiscard]] std::string text(const std::string& key) const {
    const Json& found = value(key);
    if (!found.is_string()) refuse(key, "isn't a text");
    return found.get<std::string>();
  }
  [[nodiscard]] bool boolean(const std::string& key) const {
    const Json& found = value(key);
    if (!found.is_boolean()) refuse(key, "is neither true nor false");
    return found.get<bool>();
  }
  [[nodiscard]] std::uint64_t integer(const std::string& key, std::uint64_t least, std::uint64_t most) const {
    const Json& found = value(key);
    if (!found.is_number_unsigned()) refuse(key, "isn't a whole number from 0 on");
    const auto number = found.get<std::uint64_t>();
    if (number < least || number > most) refuse(key, fmt::format("is {}, but must be {} to {}", number, least, most));
    return number;
  }
  [[nodiscard]] std::uint64_t hexadecimal(const std::string& key, std::size_t digits) const {
    const std::string found = text(key);
    if (found.size() != digits || found.find_first_not_of("0123456789abcdef") != std::string::npos)
      refuse(key, fmt::format("isn't {} hexadecimal digits in lower case", digits));
    return std::stoull(found, nullptr, 16);
  }

 private:
  const Json& object_;
  std::string path_;
  const std::string& name_;
};

/// Names of configurations become parts of file names and commands: nothing else may stand in them.
bool is_plain_name(std::string_view name) {
  constexpr std::size_t kMostCharacters = 32;
  return !name.empty() && name.size() <= kMostCharacters &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos && name[0] != '-';
}

/// What the user wrote for --hardware, if it can be typed into a shell as it is; a manifest from outside may say
/// anything.
std::string hardware_argument(const std::string& name) {
  constexpr std::string_view kTyped = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:./";
  return name.empty() || name.find_first_not_of(kTyped) != std::string::npos ? "NAME" : name;
}

/// Whether brackets are nested deeper than any manifest's: nlohmann-json writes texts recursively, and a text from
/// outside must not decide how much stack that takes.
bool is_nested_too_deeply(std::string_view text) {
  constexpr int kMostLevels = 32;
  int levels = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '{' || c == '[') && ++levels > kMostLevels) {
      return true;
    } else if (!in_text && (c == '}' || c == ']')) {
      --levels;
    }
  }
  return false;
}

void read_shape(const Fields& fields, contract::ModelShape& shape) {
  visit_shape(shape, [&](const char* key, std::uint32_t& member, std::uint64_t least, std::uint64_t most) {
    member = static_cast<std::uint32_t>(fields.integer(key, least, most));
  });
  if (shape.kv_bits != contract::kKvMantissaBits && shape.kv_bits != contract::kKvMantissaBitsWide)
    fields.refuse("kv_bits", fmt::format("is {}, but must be 8 or 12", shape.kv_bits));
  if (shape.heads % shape.kv_heads != 0)
    fields.refuse("kv_heads", fmt::format("is {}, which doesn't divide the {} heads", shape.kv_heads, shape.heads));
  if (shape.head_size % 2 != 0) fields.refuse("head_size", fmt::format("is {}, but must be even", shape.head_size));
  const Json& epsilon = fields.value("norm_epsilon");
  shape.norm_epsilon = epsilon.is_number() ? epsilon.get<float>() : 0.0F;
  if (!(shape.norm_epsilon > 0) || !std::isfinite(shape.norm_epsilon)) fields.refuse("norm_epsilon", "isn't above 0");
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
  Json shape = Json::object();
  visit_shape(manifest.shape, [&](const char* key, std::uint32_t value, int, int) { shape[key] = value; });
  shape["norm_epsilon"] = manifest.shape.norm_epsilon;
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
                      {"shape", shape},
                      {"lane_word_count", manifest.lane_word_count},
                      {"kv_word_count", manifest.kv_word_count},
                      {"minimum_word_count", manifest.minimum_word_count},
                      {"files", files},
                      {"report", report}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest parse_manifest(std::string_view text, const std::string& name) {
  if (text.size() > kManifestLimitBytes)
    fail(ExitCode::kBadInput,
         "{}: has {} bytes, but no manifest has more than {}; give the folder that `lpu compile` wrote", name,
         text.size(), kManifestLimitBytes);
  const Json whole = is_nested_too_deeply(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
  if (whole.is_discarded())
    fail(ExitCode::kBadInput, "{}: isn't JSON, so it is damaged or no manifest; compile the model again", name);

  const Fields fields(whole, "", name);
  if (fields.text("format") != kFormatName)
    fields.refuse("format", fmt::format("isn't \"{}\", so this is no bundle", kFormatName));
  (void)fields.integer("format_version", kFormatVersion, kFormatVersion);
  Manifest manifest;
  manifest.contract_hash = fields.hexadecimal("contract", 16);
  manifest.hardware_name = fields.text("hardware_name");
  manifest.model_name = fields.text("model_name");
  if (manifest.contract_hash != contract::contract_hash())
    fail(ExitCode::kCard,
         "{}: the bundle was made for contract {:016x}, but this build has {}; compile the model again: lpu compile "
         "MODEL --hardware {} ...",
         name, manifest.contract_hash, contract::contract_hash_text(), hardware_argument(manifest.hardware_name));

  read_hardware(fields.object("hardware"), manifest);
  check_named(fields.object("hardware"), manifest);
  read_shape(fields.object("shape"), manifest.shape);
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
