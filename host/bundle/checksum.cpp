// See checksum.hpp.
#include "host/bundle/checksum.hpp"

#include <fmt/format.h>
#include <zlib.h>

namespace lpu::bundle {

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string crc32_text(std::uint32_t checksum) { return fmt::format("{:08x}", checksum); }

}  // namespace lpu::bundle
