// The three parts of a GGUF file's front matter, each read and checked by one function. Used by gguf.cpp only.
// Relies on gguf_cursor.hpp; the byte layout is at the top of gguf.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/model/gguf.hpp"
#include "host/model/gguf_cursor.hpp"

namespace lpu::model {

struct GgufHeader {
  std::uint32_t version = 0;
  std::uint64_t tensors = 0;
  std::uint64_t keys = 0;
};

GgufHeader read_header(Cursor& cursor);

struct GgufKeys {
  std::map<std::string, GgufFile::Value> values;
  std::map<std::string, std::uint64_t, std::less<>> offsets;  ///< of each value from the file's start
};

GgufKeys read_keys(Cursor& cursor, std::uint64_t count);

/// keys: for general.alignment. file: all bytes, into which the tensors' data spans point.
std::vector<Tensor> read_tensors(Cursor& cursor, std::uint64_t count, const GgufKeys& keys,
                                 std::span<const std::byte> file);

}  // namespace lpu::model
