// The names, magic numbers and limits of the files of a bundle and of a group of bundles, shared by writer and reader.
// Relies on nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lpu::bundle {

constexpr std::string_view kManifestFile = "manifest.json";
constexpr std::string_view kManifestChecksumFile = "manifest.crc32";
constexpr std::string_view kGroupFile = "group.json";
constexpr std::string_view kGroupChecksumFile = "group.crc32";
/// A card's bundle inside a group's folder.
inline std::string card_folder(std::size_t card) { return "card" + std::to_string(card); }

/// The files that the manifest lists, in the order in which they are written and checked.
enum class Section { kProgram, kLaneWords, kMinimumWords, kExponents, kConstants, kRope, kTokenizer };
constexpr std::array<std::string_view, 7> kSectionFiles = {"program.bin",   "lane_words.bin", "minimum_words.bin",
                                                           "exponents.bin", "constants.bin",  "rope.bin",
                                                           "tokenizer.gguf"};
constexpr std::string_view file_of(Section section) { return kSectionFiles[static_cast<std::size_t>(section)]; }

constexpr std::string_view kFormatName = "openlpu-bundle";
constexpr std::string_view kGroupFormatName = "openlpu-group";
constexpr std::uint32_t kFormatVersion = 2;          ///< of bundles and of groups
constexpr std::uint32_t kProgramMagic = 0x4750504C;  ///< "LPPG" in a little-endian file

// Limits that are checked before anything is allocated; the hardware's own limits are tighter.
constexpr std::uint64_t kManifestLimitBytes = 1 << 20;
constexpr std::uint64_t kGroupLimitBytes = 1 << 24;  ///< a group's times grow with context and cards
constexpr std::size_t kCardLimit = 64;
constexpr std::uint32_t kInstructionLimit = 1 << 16;
constexpr std::uint32_t kLoopLimit = 1 << 12;
constexpr std::uint32_t kDelayLimit = 1 << 22;
constexpr std::uint32_t kContextLimitTokens = 1 << 20;
constexpr std::uint32_t kLengthStepLimit = kContextLimitTokens / 32;

}  // namespace lpu::bundle
