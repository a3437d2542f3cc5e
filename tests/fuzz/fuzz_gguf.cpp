// Fuzz target: any bytes as a GGUF file. Reading must end in a value or in Error(kBadInput); so must opening the model
// in it, checking its values and decoding its rows. Anything else (another exception, a crash, a sanitizer's report, a
// huge allocation) is a finding.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "host/base/error.hpp"
#include "host/model/model.hpp"

namespace {

/// Every row of every tensor that is small enough to be quick.
void decode_all(const lpu::model::GgufFile& file) {
  constexpr std::uint64_t kValuesLimit = 1 << 16;
  for (const lpu::model::Tensor& tensor : file.tensors()) {
    if (!tensor.is_supported()) continue;
    if (tensor.columns() > kValuesLimit || tensor.data.size() > kValuesLimit) continue;
    std::vector<float> values(tensor.columns());
    const std::size_t rows = tensor.data.size() / tensor.row_bytes();
    for (std::size_t row = 0; row < rows; ++row) lpu::model::dequantise_row(tensor.type, tensor.row(row), values);
    try {
      check_values(tensor);
    } catch (const lpu::Error& error) {
      if (error.code() != lpu::ExitCode::kBadInput) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  try {
    lpu::model::GgufFile file = lpu::model::GgufFile::from_bytes(std::move(bytes), "fuzz.gguf");
    decode_all(file);
    (void)lpu::model::Model::from(std::move(file));
  } catch (const lpu::Error& error) {
    if (error.code() != lpu::ExitCode::kBadInput) std::abort();
  }
  return 0;
}
