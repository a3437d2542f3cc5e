// The table of ggml's tensor types; see tensor_types.hpp. 4, 5, 31–33 and 36–38 were removed by ggml and stay unknown.
#include "host/model/tensor_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "host/base/error.hpp"
#include "host/model/gguf.hpp"
#include "host/model/model.hpp"

namespace lpu::model {
namespace {

constexpr std::array kLayouts = {
    TypeLayout{0, "F32", 1, 4, true},          TypeLayout{1, "F16", 1, 2, true},
    TypeLayout{2, "Q4_0", 32, 18, true},       TypeLayout{3, "Q4_1", 32, 20, true},
    TypeLayout{6, "Q5_0", 32, 22, true},       TypeLayout{7, "Q5_1", 32, 24, true},
    TypeLayout{8, "Q8_0", 32, 34, true},       TypeLayout{9, "Q8_1", 32, 36, false},
    TypeLayout{10, "Q2_K", 256, 84, false},    TypeLayout{11, "Q3_K", 256, 110, false},
    TypeLayout{12, "Q4_K", 256, 144, true},    TypeLayout{13, "Q5_K", 256, 176, true},
    TypeLayout{14, "Q6_K", 256, 210, true},    TypeLayout{15, "Q8_K", 256, 292, false},
    TypeLayout{16, "IQ2_XXS", 256, 66, false}, TypeLayout{17, "IQ2_XS", 256, 74, false},
    TypeLayout{18, "IQ3_XXS", 256, 98, false}, TypeLayout{19, "IQ1_S", 256, 50, false},
    TypeLayout{20, "IQ4_NL", 32, 18, false},   TypeLayout{21, "IQ3_S", 256, 110, false},
    TypeLayout{22, "IQ2_S", 256, 82, false},   TypeLayout{23, "IQ4_XS", 256, 136, false},
    TypeLayout{24, "I8", 1, 1, false},         TypeLayout{25, "I16", 1, 2, false},
    TypeLayout{26, "I32", 1, 4, false},        TypeLayout{27, "I64", 1, 8, false},
    TypeLayout{28, "F64", 1, 8, false},        TypeLayout{29, "IQ1_M", 256, 56, false},
    TypeLayout{30, "BF16", 1, 2, true},        TypeLayout{34, "TQ1_0", 256, 54, false},
    TypeLayout{35, "TQ2_0", 256, 66, false},   TypeLayout{39, "MXFP4", 32, 17, false},
    TypeLayout{40, "NVFP4", 64, 36, false},    TypeLayout{41, "Q1_0", 128, 18, false},
    TypeLayout{42, "Q2_0", 64, 18, false},
};

const TypeLayout& layout_of(TensorType type) {
  const TypeLayout* layout = find_type_layout(static_cast<std::uint32_t>(type));
  if (layout == nullptr) {
    fail(ExitCode::kInternal, "tensor type {} has no layout: it was not checked before use",
         static_cast<std::uint32_t>(type));
  }
  return *layout;
}

}  // namespace

const TypeLayout* find_type_layout(std::uint32_t raw_type) {
  const auto* found = std::find_if(kLayouts.begin(), kLayouts.end(),
                                   [raw_type](const TypeLayout& layout) { return layout.raw_type == raw_type; });
  return found == kLayouts.end() ? nullptr : found;
}

std::string supported_type_names() {
  std::string names;
  for (const TypeLayout& layout : kLayouts) {
    if (!layout.supported) continue;
    if (!names.empty()) names += ", ";
    names += layout.name;
  }
  return names;
}

std::string type_name(std::uint32_t raw_type) {
  const TypeLayout* layout = find_type_layout(raw_type);
  return layout != nullptr ? std::string(layout->name) : fmt::format("type {}", raw_type);
}

std::size_t block_bytes(TensorType type) { return layout_of(type).block_bytes; }
std::size_t block_values(TensorType type) { return layout_of(type).block_values; }

bool Tensor::is_supported() const {
  const TypeLayout* layout = find_type_layout(raw_type);
  return layout != nullptr && layout->supported;
}

std::size_t Tensor::row_bytes() const { return columns() / block_values(type) * block_bytes(type); }

std::span<const std::byte> Tensor::row(std::uint64_t index) const {
  const std::size_t bytes = row_bytes();
  if (index >= data.size() / bytes) {
    fail(ExitCode::kInternal, "tensor '{}' has no row {}: its data holds {} rows", name, index, data.size() / bytes);
  }
  return data.subspan(static_cast<std::size_t>(index) * bytes, bytes);
}

}  // namespace lpu::model
