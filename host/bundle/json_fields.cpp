// See json_fields.hpp. One list of the shape's fields for reading, writing and comparing, so that they can't differ.
#include "host/bundle/json_fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "hls/contract/describe.hpp"
#include "host/base/error.hpp"
#include "host/bundle/layout.hpp"

namespace lpu::bundle {
namespace {

constexpr std::uint32_t kMostIds = 1 << 20;

// Visit(key, member, least, most) for each integer of the shape that all cards of a group have in common.
template <typename Shape, typename Visit>
void visit_common(Shape& s, const Visit& visit) {
  visit("width", s.width, 32, contract::kMaxColumns);
  visit("heads", s.heads, 1, 4096);
  visit("kv_heads", s.kv_heads, 1, 4096);
  visit("head_size", s.head_size, 2, 256);
  visit("ffn_width", s.ffn_width, 32, contract::kMaxColumns);
  visit("vocabulary", s.vocabulary, 1, kMostIds);
  visit("context_tokens", s.context_tokens, 1, kContextLimitTokens);
  visit("kv_bits", s.kv_bits, contract::kKvMantissaBits, contract::kKvMantissaBitsWide);
}

template <typename Shape, typename Visit>
void visit_shape(Shape& s, const Visit& visit) {
  visit("layers", s.layers, 1, 1024);
  visit_common(s, visit);
  visit("first_id", s.first_id, 0, kMostIds);
  visit("ids", s.ids, 0, kMostIds);
}

/// What the user wrote for --hardware, if it can be typed into a shell as it is; a file from outside may say anything.
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

}  // namespace

Json parse_json(std::string_view text, std::uint64_t limit_bytes, const std::string& name) {
  if (text.size() > limit_bytes)
    fail(ExitCode::kBadInput,
         "{}: has {} bytes, but no such file has more than {}; give the folder that `lpu compile` wrote", name,
         text.size(), limit_bytes);
  Json whole = is_nested_too_deeply(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
  if (whole.is_discarded())
    fail(ExitCode::kBadInput, "{}: isn't JSON, so it is damaged or no manifest; compile the model again", name);
  return whole;
}

Fields::Fields(const Json& object, std::string path, const std::string& name)
    : object_(object), path_(std::move(path)), name_(name) {
  if (!object_.is_object()) refuse("", "isn't an object");
}

void Fields::refuse(std::string_view key, const std::string& problem) const {
  fail(ExitCode::kBadInput, "{}: field '{}{}' {}; compile the model again", name_, path_, key, problem);
}

const Json& Fields::value(const std::string& key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) refuse(key, "is missing");
  return *found;
}

Fields Fields::entry(const std::string& key, std::size_t index) const {
  return {value(key).at(index), fmt::format("{}{}[{}].", path_, key, index), name_};
}

std::size_t Fields::array_size(const std::string& key, std::size_t least, std::size_t most) const {
  const Json& found = value(key);
  if (!found.is_array()) refuse(key, "isn't a list");
  if (found.size() < least || found.size() > most)
    refuse(key, least == most ? fmt::format("has {} entries, but must have {}", found.size(), least)
                              : fmt::format("has {} entries, but must have {} to {}", found.size(), least, most));
  return found.size();
}

std::string Fields::text(const std::string& key) const {
  const Json& found = value(key);
  if (!found.is_string()) refuse(key, "isn't a text");
  return found.get<std::string>();
}

bool Fields::boolean(const std::string& key) const {
  const Json& found = value(key);
  if (!found.is_boolean()) refuse(key, "is neither true nor false");
  return found.get<bool>();
}

std::uint64_t Fields::in_range(const Json& found, const std::string& key, std::uint64_t least,
                               std::uint64_t most) const {
  if (!found.is_number_unsigned()) refuse(key, "isn't a whole number from 0 on");
  const auto number = found.get<std::uint64_t>();
  if (number < least || number > most) refuse(key, fmt::format("is {}, but must be {} to {}", number, least, most));
  return number;
}

std::uint64_t Fields::integer(const std::string& key, std::uint64_t least, std::uint64_t most) const {
  return in_range(value(key), key, least, most);
}

std::uint64_t Fields::hexadecimal(const std::string& key, std::size_t digits) const {
  const std::string found = text(key);
  if (found.size() != digits || found.find_first_not_of("0123456789abcdef") != std::string::npos)
    refuse(key, fmt::format("isn't {} hexadecimal digits in lower case", digits));
  return std::stoull(found, nullptr, 16);
}

std::vector<std::uint32_t> Fields::integers(const std::string& key, std::size_t count, std::uint32_t least,
                                            std::uint32_t most) const {
  (void)array_size(key, count, count);
  std::vector<std::uint32_t> numbers;
  numbers.reserve(count);
  for (const Json& found : value(key))
    numbers.push_back(
        static_cast<std::uint32_t>(in_range(found, fmt::format("{}[{}]", key, numbers.size()), least, most)));
  return numbers;
}

void check_format(const Fields& fields, std::string_view format) {
  if (fields.text("format") != format)
    fields.refuse("format", fmt::format("isn't \"{}\", so this is no bundle", format));
  (void)fields.integer("format_version", kFormatVersion, kFormatVersion);
}

void check_contract(std::uint64_t hash, const std::string& hardware_name, const std::string& name) {
  if (hash != contract::contract_hash())
    fail(ExitCode::kCard,
         "{}: the bundle was made for contract {:016x}, but this build has {}; compile the model again: lpu compile "
         "MODEL --hardware {} ...",
         name, hash, contract::contract_hash_text(), hardware_argument(hardware_name));
}

Json shape_json(const contract::ModelShape& shape) {
  Json json = Json::object();
  visit_shape(shape, [&](const char* key, std::uint32_t value, int, int) { json[key] = value; });
  json["norm_epsilon"] = shape.norm_epsilon;
  return json;
}

contract::ModelShape read_shape(const Fields& fields) {
  contract::ModelShape shape;
  visit_shape(shape, [&](const char* key, std::uint32_t& member, std::uint64_t least, std::uint64_t most) {
    member = static_cast<std::uint32_t>(fields.integer(key, least, most));
  });
  if (shape.kv_bits != contract::kKvMantissaBits && shape.kv_bits != contract::kKvMantissaBitsWide)
    fields.refuse("kv_bits", fmt::format("is {}, but must be 8 or 12", shape.kv_bits));
  if (shape.heads % shape.kv_heads != 0)
    fields.refuse("kv_heads", fmt::format("is {}, which doesn't divide the {} heads", shape.kv_heads, shape.heads));
  if (shape.head_size % 2 != 0) fields.refuse("head_size", fmt::format("is {}, but must be even", shape.head_size));
  if (shape.first_id >= shape.vocabulary)
    fields.refuse("first_id",
                  fmt::format("is {}, but the vocabulary has ids 0 to {}", shape.first_id, shape.vocabulary - 1));
  if (shape.held_ids() > shape.vocabulary - shape.first_id)
    fields.refuse("ids", fmt::format("makes ids {} to {}, but the vocabulary has ids 0 to {}", shape.first_id,
                                     shape.first_id + shape.held_ids() - 1, shape.vocabulary - 1));
  const Json& epsilon = fields.value("norm_epsilon");
  shape.norm_epsilon = epsilon.is_number() ? epsilon.get<float>() : 0.0F;
  if (!(shape.norm_epsilon > 0) || !std::isfinite(shape.norm_epsilon)) fields.refuse("norm_epsilon", "isn't above 0");
  return shape;
}

const char* difference(const contract::ModelShape& a, const contract::ModelShape& b) {
  std::vector<std::uint32_t> others;
  visit_common(b, [&](const char*, std::uint32_t value, int, int) { others.push_back(value); });
  const char* found = nullptr;
  std::size_t at = 0;
  visit_common(a, [&](const char* key, std::uint32_t value, int, int) {
    if (value != others[at++] && found == nullptr) found = key;
  });
  return found == nullptr && a.norm_epsilon != b.norm_epsilon ? "norm_epsilon" : found;
}

}  // namespace lpu::bundle
