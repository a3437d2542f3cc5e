// The names, magic numbers and limits of a bundle's files, shared by writer and reader. Relies on nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lpu::bundle {

constexpr std::string_view kManifestFile = "manifest.json";
constexpr std::string_view kManifestChecksumFile = "manifest.crc32";

/// The files that the manifest lists, in the order in which they are written and checked.
enum class Section { kProgram, kLaneWords, kMinimumWords, kExponents, kConstants, kRope, kTokenizer };
constexpr std::array<std::string_view, 7> kSectionFiles = {"program.bin",   "lane_words.bin", "minimum_words.bin",
                                                           "exponents.bin", "constants.bin",  "rope.bin",
                                                           "tokenizer.gguf"};
constexpr std::string_view file_of(Section section) { return kSectionFiles[static_cast<std::size_t>(section)]; }

constexpr std::string_view kFormatName = "openlpu-bundle";
constexpr std::uint32_t kFormatVersion = 1;
constexpr std::uint32_t kProgramMagic = 0x4750504C;  ///< "LPPG" in a little-endian file

// Limits that are checked before anything is allocated; the hardware's own limits are tighter.
constexpr std::uint64_t kManifestLimitBytes = 1 << 20;
constexpr std::uint32_t kInstructionLimit = 1 << 16;
constexpr std::uint32_t kLoopLimit = 1 << 12;
constexpr std::uint32_t kDelayLimit = 1 << 22;
constexpr std::uint32_t kContextLimitTokens = 1 << 20;
constexpr std::uint32_t kLengthStepLimit = kContextLimitTokens / 32;

}  // namespace lpu::bundle
