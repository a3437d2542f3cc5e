// Fuzz target: any bytes as a bundle's program, as its manifest and as a group's. Parsing must end in a value or in an
// Error of the bad-input kinds. The first byte chooses; a program is read for the hardware `tiny`. A program that is
// accepted must be written back to the very same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hls/contract/describe.hpp"
#include "host/base/error.hpp"
#include "host/bundle/group.hpp"
#include "host/bundle/manifest.hpp"
#include "host/bundle/program_file.hpp"

namespace {

constexpr std::uint32_t kContextTokens = 64;

void parse_program(std::span<const std::byte> bytes) {
  static const lpu::contract::HardwareConfig& hardware = *lpu::contract::find_hardware("tiny");
  const lpu::contract::Program program = lpu::bundle::parse_program(bytes, hardware, kContextTokens, "fuzz.bin");
  const std::vector<std::byte> again = lpu::bundle::program_bytes(program);
  if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
}

/// The contract's hash is put where the text has a mark, so that mutations get past it whatever this build's hash is.
std::string text_of(std::span<const std::byte> bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view kMark = "@CONTRACT@";
  if (const std::size_t at = text.find(kMark); at != std::string::npos)
    text.replace(at, kMark.size(), lpu::contract::contract_hash_text());
  return text;
}

void parse_manifest(const std::string& text) {
  const lpu::bundle::Manifest manifest = lpu::bundle::parse_manifest(text, "fuzz.json");
  (void)lpu::bundle::parse_manifest(lpu::bundle::manifest_text(manifest), "again.json");
}

void parse_group(const std::string& text) {
  const lpu::bundle::GroupManifest group = lpu::bundle::parse_group(text, "fuzz.json");
  (void)lpu::bundle::parse_group(lpu::bundle::group_text(group), "again.json");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  try {
    if (data[0] == 'P') {
      parse_program(bytes);
    } else if (data[0] == 'G') {
      parse_group(text_of(bytes));
    } else {
      parse_manifest(text_of(bytes));
    }
  } catch (const lpu::Error& error) {
    if (error.code() != lpu::ExitCode::kBadInput && error.code() != lpu::ExitCode::kCard) std::abort();
  }
  return 0;
}
