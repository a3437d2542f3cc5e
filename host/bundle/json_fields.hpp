// What the JSON files of a bundle (manifest.json) and of a group (group.json) share: texts from outside that are parsed
// within limits, fields whose absence or type is an error that names them, and the model's shape.
// Relies on hls/contract and on nlohmann-json, which no other header of this folder lets out.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hls/contract/program.hpp"

namespace lpu::bundle {

using Json = nlohmann::ordered_json;

/// Error(kBadInput) for a text above the limit, for no JSON, and for brackets nested deeper than any file's here.
Json parse_json(std::string_view text, std::uint64_t limit_bytes, const std::string& name);

/// An object whose missing or ill-typed fields are errors that name them. Keeps references to both.
class Fields {
 public:
  /// path: what stands before the object's keys in errors, "shape."; name: what errors call the file.
  Fields(const Json& object, std::string path, const std::string& name);

  [[noreturn]] void refuse(std::string_view key, const std::string& problem) const;
  [[nodiscard]] const Json& value(const std::string& key) const;
  [[nodiscard]] Fields object(const std::string& key) const { return {value(key), path_ + key + ".", name_}; }
  /// An array of objects' entry; `key` was found to be an array.
  [[nodiscard]] Fields entry(const std::string& key, std::size_t index) const;
  /// Its length, which must be in the range.
  [[nodiscard]] std::size_t array_size(const std::string& key, std::size_t least, std::size_t most) const;
  [[nodiscard]] std::string text(const std::string& key) const;
  [[nodiscard]] bool boolean(const std::string& key) const;
  [[nodiscard]] std::uint64_t integer(const std::string& key, std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] std::uint64_t hexadecimal(const std::string& key, std::size_t digits) const;
  /// [count] numbers in the range.
  [[nodiscard]] std::vector<std::uint32_t> integers(const std::string& key, std::size_t count, std::uint32_t least,
                                                    std::uint32_t most) const;

 private:
  std::uint64_t in_range(const Json& found, const std::string& key, std::uint64_t least, std::uint64_t most) const;

  const Json& object_;
  std::string path_;
  const std::string& name_;
};

/// The fields `format` and `format_version`.
void check_format(const Fields& fields, std::string_view format);
/// Error(kCard) for another contract than this build's.
void check_contract(std::uint64_t hash, const std::string& hardware_name, const std::string& name);

Json shape_json(const contract::ModelShape& shape);
contract::ModelShape read_shape(const Fields& fields);
/// Name of the first field in which two shapes differ other than by what a card of a group holds (layers, ids), or
/// nullptr.
const char* difference(const contract::ModelShape& a, const contract::ModelShape& b);

}  // namespace lpu::bundle
