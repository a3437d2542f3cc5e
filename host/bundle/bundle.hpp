// A card bundle: everything a card and its session need, in one folder. Format: docs/card_bundle.md.
// Relies on host/base and hls/contract, on zlib for the checksums and nlohmann-json for the manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hls/contract/link_clock.hpp"
#include "hls/contract/program.hpp"
#include "host/base/mapped_file.hpp"

namespace lpu::bundle {

/// What the compiler hands over to be written.
struct Contents {
  contract::HardwareConfig hardware{};  ///< `name` and `note` are not stored by pointer: see hardware_name
  std::string hardware_name;
  contract::ModelShape shape;
  std::string model_name;
  std::uint64_t model_file_bytes = 0;  ///< size of the file that was compiled, for comparison; 0: unknown
  contract::Program program;
  std::vector<std::uint8_t> lane_words;  ///< as contract::MemoryImage says
  std::uint64_t lane_word_count = 0;
  std::uint64_t kv_word_count = 0;
  std::vector<std::uint8_t> minimum_words;
  std::uint64_t minimum_word_count = 0;
  std::vector<std::uint8_t> exponents;
  std::vector<float> constants;
  std::vector<float> rope;
  std::vector<std::byte> tokenizer_gguf;  ///< a GGUF file of the tokenizer.* keys and general.architecture, no tensors
  std::string report_json;                ///< the compiler's report, for people and tools
};

/// What cards of a group have to know of each other: the link, and when each hands the first block of what it sends to
/// it.
struct GroupPlan {
  /// Cycles of a phase, by blocks − 1.
  struct CardTimes {
    std::vector<std::uint32_t> embedding_sends;  ///< [length_steps] Phase::kEmbedding → first card
    std::vector<std::uint32_t> layers_send;      ///< [length_steps] Phase::kLayers → next card; the last: all others
  };
  std::string link_name;
  contract::LinkConfig link{};   ///< `name` and `note` aren't stored by pointer: see link_name
  std::vector<CardTimes> cards;  ///< in the order in which a token visits them
};

/// A group handed over to be written. Cards are made one after another: each may be large.
struct GroupContents {
  std::string hardware_name;   ///< "3xu55c"
  contract::ModelShape shape;  ///< of the whole model
  std::string model_name;
  std::uint64_t model_file_bytes = 0;
  GroupPlan plan;
  std::vector<std::uint32_t> cycles_with_head;  ///< [length_steps] of one user's token over all cards
  std::string report_json;
  std::function<Contents(std::size_t card)> card;
};

/// Writes to a temporary folder beside `folder`, syncs, renames. An existing bundle is replaced; an existing folder
/// that is no bundle is an Error(kUsage). Error(kIo) on a full disk or an unwritable place, with nothing left behind.
void write(const std::filesystem::path& folder, const Contents& contents);
/// The same for a group: a folder with group.json and, per card, a bundle in card0, card1 …
void write_group(const std::filesystem::path& folder, const GroupContents& contents);

class Bundle {
 public:
  /// Checks presence, sizes, checksums, the contract hash and every field's range; Error(kBadInput) names file, field
  /// and offset, Error(kCard) for a stale contract. progress: called with the share that is checked, 0…1; may be empty.
  static Bundle open(const std::filesystem::path& folder, const std::function<void(double)>& progress = {});

  [[nodiscard]] const std::filesystem::path& folder() const;
  [[nodiscard]] const contract::HardwareConfig& hardware() const;  ///< name and note live as long as the bundle
  [[nodiscard]] const std::string& hardware_name() const;
  [[nodiscard]] const std::string& model_name() const;
  [[nodiscard]] std::uint64_t model_file_bytes() const;  ///< 0: unknown
  [[nodiscard]] const contract::ModelShape& shape() const;
  [[nodiscard]] const contract::Program& program() const;
  [[nodiscard]] contract::MemoryImage image() const;  ///< views into mapped files
  /// Drops the pages of lane-image bytes that a card has copied.
  void forget_lane_words(std::size_t first_byte, std::size_t bytes) const;
  /// Drops the pages of the whole image: they are read from the files again if anyone still needs them.
  void forget_image() const;
  /// A group's bundles, in the order in which a token visits the cards; empty for a card alone. Of a group, hardware()
  /// is the first card's, program() holds no instructions but cycles_with_head, and image() is empty.
  [[nodiscard]] const std::vector<Bundle>& cards() const;
  [[nodiscard]] const GroupPlan& plan() const;  ///< of a group
  [[nodiscard]] std::filesystem::path tokenizer_file() const;
  [[nodiscard]] const std::string& report_json() const;
  /// What is loaded onto the card: weights, minimums, exponents, constants, RoPE table.
  [[nodiscard]] std::uint64_t image_bytes() const;
  /// What the card holds while it works: the image, the KV cache and the program.
  [[nodiscard]] std::uint64_t resident_bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace lpu::bundle
