// CRC-32 (the polynomial of zlib, PNG and Ethernet): finds every altered bit, burst and truncation of a bundle's files.
// Relies on zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lpu::bundle {

/// Checksum of `bytes`, going on from the checksum of what came before.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);
/// Eight lower-case hexadecimal digits.
std::string crc32_text(std::uint32_t checksum);

}  // namespace lpu::bundle
