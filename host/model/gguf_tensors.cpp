// The tensor table of a GGUF file and where each tensor's bytes lie; see gguf_reader.hpp.
// Every product and sum of sizes is taken with an overflow check, and a tensor's bytes must lie exactly where the
// ones before it end: so no tensor can reach outside the file or into another one.
#include <limits>
#include <set>
#include <utility>

#include "host/model/gguf_reader.hpp"
#include "host/model/tensor_types.hpp"

namespace lpu::model {
namespace {

constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kAlignmentLimit = 1ULL << 20;
constexpr std::uint64_t kNameLimitBytes = 64;  // of ggml's name buffer, its final zero included
constexpr std::uint64_t kExtentLimit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::uint64_t alignment_of(const Cursor& cursor, const GgufKeys& keys) {
  const auto found = keys.values.find("general.alignment");
  if (found == keys.values.end()) return kDefaultAlignment;
  const std::uint64_t alignment = std::get<std::uint64_t>(found->second);  // read_keys made sure that it is a u32
  const bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!is_power || alignment > kAlignmentLimit) {
    cursor.refuse({"value of key", "general.alignment", {}}, keys.offsets.at("general.alignment"),
                  fmt::format("is {}, but must be a power of two up to {}", alignment, kAlignmentLimit));
  }
  return alignment;
}

/// A tensor's entry, with what the checks of its place need.
struct Entry {
  Tensor tensor;
  std::uint64_t size_bytes = 0;
  std::uint64_t data_offset = 0;  ///< from the data's start, as the file says
  std::uint64_t offset_at = 0;    ///< where the file says so
};

std::uint64_t size_of(const Cursor& cursor, const Tensor& tensor, std::uint64_t shape_at, const TypeLayout& layout) {
  const Field field{"shape of tensor", tensor.name, {}};
  std::uint64_t values = 1;
  for (const std::uint64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(values, extent, &values) || values > kExtentLimit) {
      cursor.refuse(field, shape_at,
                    fmt::format("{} has more values than 64 bits can count", fmt::join(tensor.shape, " x ")));
    }
  }
  if (tensor.shape[0] % layout.block_values != 0) {
    cursor.refuse(field, shape_at,
                  fmt::format("rows of {} values are not a multiple of {}'s block of {}", tensor.shape[0], layout.name,
                              layout.block_values));
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(values / layout.block_values, std::uint64_t{layout.block_bytes}, &bytes)) {
    cursor.refuse(field, shape_at,
                  fmt::format("{} has more bytes than 64 bits can count", fmt::join(tensor.shape, " x ")));
  }
  return bytes;
}

Entry read_entry(Cursor& cursor, std::uint64_t number) {
  Entry entry;
  Tensor& tensor = entry.tensor;
  const std::uint64_t start = cursor.offset();
  const Field name_field{"name of tensor", {}, number};
  tensor.name = cursor.read_string(name_field, kNameLimitBytes - 1);
  if (tensor.name.empty()) cursor.refuse(name_field, start, "is empty");

  const Field count_field{"dimension count of tensor", tensor.name, {}};
  const std::uint64_t count_at = cursor.offset();
  const auto dimensions = cursor.read<std::uint32_t>(count_field);
  if (dimensions == 0 || dimensions > 4) {
    cursor.refuse(count_field, count_at, fmt::format("is {}, but must be 1 to 4", dimensions));
  }
  const std::uint64_t shape_at = cursor.offset();
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const Field field{"dimension of tensor", tensor.name, i};
    const std::uint64_t at = cursor.offset();
    const auto extent = cursor.read<std::uint64_t>(field);
    if (extent == 0 || extent > kExtentLimit) {
      cursor.refuse(field, at, fmt::format("is {}, but must be 1 to {}", extent, kExtentLimit));
    }
    tensor.shape.push_back(extent);
  }

  const Field type_field{"type of tensor", tensor.name, {}};
  const std::uint64_t type_at = cursor.offset();
  tensor.raw_type = cursor.read<std::uint32_t>(type_field);
  const TypeLayout* layout = find_type_layout(tensor.raw_type);
  if (layout == nullptr) {
    cursor.refuse(type_field, type_at, fmt::format("type {} does not exist or was removed", tensor.raw_type),
                  fmt::format("convert the model to one of {}", supported_type_names()));
  }
  tensor.type = static_cast<TensorType>(tensor.raw_type);
  entry.size_bytes = size_of(cursor, tensor, shape_at, *layout);
  entry.offset_at = cursor.offset();
  entry.data_offset = cursor.read<std::uint64_t>({"offset of tensor", tensor.name, {}});
  return entry;
}

/// Checks that the tensor lies at `expected` bytes from the data's start and ends inside the file.
void check_place(const Cursor& cursor, const Entry& entry, std::uint64_t expected, std::uint64_t alignment,
                 std::uint64_t data_start) {
  const Field field{"offset of tensor", entry.tensor.name, {}};
  if (entry.data_offset % alignment != 0) {
    cursor.refuse(field, entry.offset_at,
                  fmt::format("is {}, which is not a multiple of the alignment {}", entry.data_offset, alignment));
  }
  if (entry.data_offset < expected) {
    cursor.refuse(field, entry.offset_at,
                  fmt::format("is {}, which overlaps the tensor before it (ends at {})", entry.data_offset, expected));
  }
  if (entry.data_offset > expected) {
    cursor.refuse(
        field, entry.offset_at,
        fmt::format("is {}, which leaves a hole: the tensor before it ends at {}", entry.data_offset, expected));
  }
  // No wrap: `expected` was reached by steps that each stayed inside the file.
  const std::uint64_t start = data_start + entry.data_offset;
  if (start > cursor.size() || entry.size_bytes > cursor.size() - start) {
    cursor.refuse({"data of tensor", entry.tensor.name, {}}, start,
                  fmt::format("needs {} bytes, but the file ends at byte {}", entry.size_bytes, cursor.size()));
  }
}

}  // namespace

std::vector<Tensor> read_tensors(Cursor& cursor, std::uint64_t count, const GgufKeys& keys,
                                 std::span<const std::byte> file) {
  const std::uint64_t alignment = alignment_of(cursor, keys);
  const auto pad = [alignment](std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<Entry> entries;
  std::set<std::string> names;
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::uint64_t start = cursor.offset();
    entries.push_back(read_entry(cursor, number));
    const std::string& name = entries.back().tensor.name;
    if (!names.insert(name).second) cursor.refuse({"name of tensor", name, {}}, start, "appears twice");
  }

  const std::uint64_t data_start = pad(cursor.offset());
  std::uint64_t expected = 0;  // from data_start; always inside the file plus one alignment, so that it can't wrap
  std::vector<Tensor> tensors;
  for (Entry& entry : entries) {
    check_place(cursor, entry, expected, alignment, data_start);
    expected = pad(expected + entry.size_bytes);
    Tensor& tensor = entry.tensor;
    tensor.file_offset = data_start + entry.data_offset;
    if (tensor.is_supported()) {
      tensor.data =
          file.subspan(static_cast<std::size_t>(tensor.file_offset), static_cast<std::size_t>(entry.size_bytes));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace lpu::model
