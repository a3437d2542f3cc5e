// Opens a bundle, of a card or of a group of cards, and believes nothing that it hasn't checked.
//
// A bundle is a folder:
//   1. manifest.crc32      eight hexadecimal digits and a newline: CRC-32 of manifest.json
//   2. manifest.json       what it was made from and for; size and CRC-32 of each file below (docs/card_bundle.md)
//   3. program.bin         timed instructions (program_file.hpp)
//   4. lane_words.bin      [lane_word_count × column_groups × lanes × 18 bytes]
//   5. minimum_words.bin   [minimum_word_count × column_groups × lanes × 2 bytes]; not there when empty
//   6. exponents.bin       [exponent words × lanes] signed bytes
//   7. constants.bin       [values] binary32
//   8. rope.bin            [context × head_size/2 × 2] binary32: cosine, sine
//   9. tokenizer.gguf      a GGUF file without tensors
// A group's is one with group.crc32, group.json (group.hpp) and a bundle in each of card0, card1 …
// Order of checks: manifest's checksum, its fields, each file's size, each file's checksum, sizes against the shapes,
// program. Files are mapped: one that is used needs no copy, and pages that only the checksum touched are let go.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <system_error>

#include "host/base/error.hpp"
#include "host/bundle/bundle.hpp"
#include "host/bundle/checksum.hpp"
#include "host/bundle/group.hpp"
#include "host/bundle/manifest.hpp"
#include "host/bundle/program_file.hpp"

namespace lpu::bundle {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;  // checked at a time, so that few pages are held

/// A manifest's text, found to be what its checksum file says.
std::string checked_text(const fs::path& folder, std::string_view name, std::string_view checksum_name,
                         std::uint64_t limit_bytes) {
  std::error_code error;
  const fs::path path = folder / name;
  for (const fs::path& needed : {path, folder / checksum_name}) {
    const bool is_there = fs::is_regular_file(needed, error);
    if (error == std::errc::permission_denied)
      fail(ExitCode::kIo, "{}: cannot be read: permission denied; ask the folder's owner", needed.string());
    if (!is_there)
      fail(ExitCode::kBadInput, "{}: is missing, so this is no bundle; give the folder that `lpu compile` wrote",
           needed.string());
    if (fs::file_size(needed, error) == 0)
      fail(ExitCode::kBadInput, "{}: is empty; compile the model again", needed.string());
  }
  const MappedFile file(path);
  if (file.bytes().size() > limit_bytes)
    fail(ExitCode::kBadInput, "{}: has {} bytes, but no manifest has more than {}; compile the model again",
         path.string(), file.bytes().size(), limit_bytes);
  const MappedFile checksum(folder / checksum_name);
  const std::string_view noted(reinterpret_cast<const char*>(checksum.bytes().data()), checksum.bytes().size());
  const std::string counted = crc32_text(crc32_of(file.bytes()));
  if (noted != counted + "\n")
    fail(ExitCode::kBadInput, "{}: is damaged: its checksum is {}, which isn't what {} says; compile the model again",
         path.string(), counted, checksum_name);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

struct Bundle::State {
  fs::path folder;
  Manifest manifest;
  contract::HardwareConfig hardware{};  ///< the manifest's, with name and note
  contract::Program program;
  std::array<std::optional<MappedFile>, kSectionFiles.size()> files;
  std::vector<Bundle> cards;  ///< of a group, whose files are its cards'
  GroupPlan plan;

  [[nodiscard]] std::string path_of(Section section) const { return (folder / file_of(section)).string(); }
  [[nodiscard]] std::span<const std::byte> bytes(Section section) const {
    const auto& file = files[static_cast<std::size_t>(section)];
    return file ? file->bytes() : std::span<const std::byte>();
  }
  [[nodiscard]] const std::uint8_t* data(Section section) const {
    return reinterpret_cast<const std::uint8_t*>(bytes(section).data());
  }
  void open_card(const std::function<void(double)>& progress);
  void open_group(const std::function<void(double)>& progress);
  void read_manifest();
  void map_files();
  void check_sums(const std::function<void(double)>& progress) const;
  void check_sizes() const;
  void check_numbers(Section section) const;
  void check_ids() const;
};

void Bundle::State::read_manifest() {
  manifest = parse_manifest(checked_text(folder, kManifestFile, kManifestChecksumFile, kManifestLimitBytes),
                            (folder / kManifestFile).string());
  hardware = manifest.hardware;
  hardware.name = manifest.configuration_name.c_str();
  hardware.note = manifest.configuration_note.c_str();
}

void Bundle::State::open_group(const std::function<void(double)>& progress) {
  GroupManifest group = parse_group(checked_text(folder, kGroupFile, kGroupChecksumFile, kGroupLimitBytes),
                                    (folder / kGroupFile).string());
  check_places(folder, group);
  const std::size_t count = group.plan.cards.size();
  for (std::size_t i = 0; i < count; ++i)
    cards.push_back(Bundle::open(folder / card_folder(i), [&](double share) {
      if (progress) progress((static_cast<double>(i) + share) / static_cast<double>(count));
    }));
  check_cards(folder, group, cards);
  hardware = cards[0].hardware();
  manifest.hardware_name = group.hardware_name;
  manifest.model_name = group.model_name;
  manifest.model_file_bytes = group.model_file_bytes;
  manifest.shape = group.shape;
  manifest.report_json = group.report_json;
  program.length_steps = static_cast<std::uint32_t>(group.cycles_with_head.size());
  program.cycles_with_head = std::move(group.cycles_with_head);
  plan = std::move(group.plan);
  plan.link.name = plan.link_name.c_str();
  plan.link.note = "";
}

void Bundle::State::map_files() {
  for (std::size_t i = 0; i < kSectionFiles.size(); ++i) {
    const fs::path path = folder / kSectionFiles[i];
    const std::uint64_t wanted = manifest.files[i].bytes;
    std::error_code error;
    if (wanted == 0) continue;
    if (!fs::exists(path, error))
      fail(ExitCode::kBadInput, "{}: is missing from the bundle; compile the model again", path.string());
    if (const std::uint64_t found = fs::file_size(path, error); error || found != wanted)
      fail(ExitCode::kBadInput,
           "{}: has {} bytes, but the manifest says {}; it was cut off or altered: compile the model again",
           path.string(), error ? 0 : found, wanted);
    files[i].emplace(path);
  }
}

void Bundle::State::check_sums(const std::function<void(double)>& progress) const {
  std::uint64_t all_bytes = 0;
  std::uint64_t done_bytes = 0;
  for (const FileEntry& entry : manifest.files) all_bytes += entry.bytes;
  for (std::size_t i = 0; i < kSectionFiles.size(); ++i) {
    if (!files[i]) continue;
    const std::span<const std::byte> bytes = files[i]->bytes();
    std::uint32_t checksum = 0;
    for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
      const std::span<const std::byte> piece = bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at));
      checksum = crc32_of(piece, checksum);
      files[i]->forget(at, piece.size());
      done_bytes += piece.size();
      if (progress) progress(static_cast<double>(done_bytes) / static_cast<double>(all_bytes));
    }
    if (checksum != manifest.files[i].crc32)
      fail(ExitCode::kBadInput, "{}: is damaged: its checksum is {}, but the manifest says {}; compile the model again",
           files[i]->path().string(), crc32_text(checksum), crc32_text(manifest.files[i].crc32));
  }
}

void Bundle::State::check_sizes() const {
  const auto lanes = static_cast<std::uint64_t>(hardware.lanes);
  const std::uint64_t all_lanes = lanes * static_cast<std::uint64_t>(hardware.column_groups);
  const auto expect = [&](Section section, std::uint64_t wanted, std::string_view why) {
    const std::uint64_t found = manifest.file(section).bytes;
    if (found != wanted)
      fail(ExitCode::kBadInput, "{}: has {} bytes, but {} make {}; compile the model again", path_of(section), found,
           why, wanted);
  };
  const auto most = [&](Section section, std::uint64_t unit_bytes, int limit, std::string_view what) {
    const std::uint64_t found = manifest.file(section).bytes;
    if (found % unit_bytes != 0 || found / unit_bytes > static_cast<std::uint64_t>(limit))
      fail(ExitCode::kBadInput,
           "{}: has {} bytes, but must be whole {} of {} bytes, at most {}; compile the model again", path_of(section),
           found, what, unit_bytes, limit);
  };
  expect(Section::kLaneWords, manifest.lane_word_count * all_lanes * contract::kWordBytes, "the manifest's lane words");
  expect(Section::kMinimumWords, manifest.minimum_word_count * all_lanes * contract::kMinimumBytes,
         "the manifest's minimum words");
  most(Section::kExponents, lanes, hardware.exponent_words, "exponent words");
  most(Section::kConstants, sizeof(float), hardware.constant_values, "values");
  const std::uint64_t pairs = std::uint64_t{manifest.shape.context_tokens} * (manifest.shape.head_size / 2);
  expect(Section::kRope, pairs * 2 * sizeof(float), "the context's (cosine, sine) pairs");
  most(Section::kRope, 2 * sizeof(float), hardware.rope_pairs, "pairs");
  if (manifest.file(Section::kTokenizer).bytes == 0)
    fail(ExitCode::kBadInput, "{}: is empty; compile the model again", path_of(Section::kTokenizer));
}

/// The machine knows neither NaN nor infinity (docs/numbers.md §1).
void Bundle::State::check_numbers(Section section) const {
  const std::span<const std::byte> all = bytes(section);
  for (std::size_t at = 0; at + sizeof(float) <= all.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, all.data() + at, sizeof value);
    if (!std::isfinite(value))
      fail(ExitCode::kBadInput, "{}: the value at byte {} isn't a finite number; compile the model again",
           path_of(section), at);
  }
}

/// A card alone holds the whole vocabulary.
void Bundle::State::check_ids() const {
  const contract::ModelShape& shape = manifest.shape;
  if (!program.is_of_group() && shape.held_ids() != shape.vocabulary)
    fail(ExitCode::kBadInput,
         "{}: field 'shape.ids' is {}, but a card that is of no group holds all {}; compile the model again",
         (folder / kManifestFile).string(), shape.ids, shape.vocabulary);
}

void Bundle::State::open_card(const std::function<void(double)>& progress) {
  read_manifest();
  map_files();
  check_sums(progress);
  check_sizes();
  check_numbers(Section::kConstants);
  check_numbers(Section::kRope);
  program =
      parse_program(bytes(Section::kProgram), hardware, manifest.shape.context_tokens, path_of(Section::kProgram));
  check_ids();
}

Bundle Bundle::open(const fs::path& folder, const std::function<void(double)>& progress) {
  auto state = std::make_shared<State>();
  state->folder = folder;
  std::error_code error;
  if (!fs::is_directory(folder, error))
    fail(ExitCode::kIo, "{}: there is no such folder; give the folder that `lpu compile` wrote", folder.string());
  if (fs::exists(folder / kGroupFile, error) || fs::exists(folder / kGroupChecksumFile, error)) {
    state->open_group(progress);
  } else {
    state->open_card(progress);
  }
  Bundle bundle;
  bundle.state_ = std::move(state);
  return bundle;
}

const fs::path& Bundle::folder() const { return state_->folder; }
const contract::HardwareConfig& Bundle::hardware() const { return state_->hardware; }
const std::string& Bundle::hardware_name() const { return state_->manifest.hardware_name; }
const std::string& Bundle::model_name() const { return state_->manifest.model_name; }
std::uint64_t Bundle::model_file_bytes() const { return state_->manifest.model_file_bytes; }
const contract::ModelShape& Bundle::shape() const { return state_->manifest.shape; }
const contract::Program& Bundle::program() const { return state_->program; }
const std::string& Bundle::report_json() const { return state_->manifest.report_json; }
const std::vector<Bundle>& Bundle::cards() const { return state_->cards; }
const GroupPlan& Bundle::plan() const { return state_->plan; }
fs::path Bundle::tokenizer_file() const {
  if (!state_->cards.empty()) return state_->cards[0].tokenizer_file();
  return state_->path_of(Section::kTokenizer);
}

contract::MemoryImage Bundle::image() const {
  const State& state = *state_;
  contract::MemoryImage image;
  image.lane_words = state.data(Section::kLaneWords);
  image.lane_word_count = state.manifest.lane_word_count;
  image.kv_word_count = state.manifest.kv_word_count;
  image.minimum_words = state.data(Section::kMinimumWords);
  image.minimum_word_count = state.manifest.minimum_word_count;
  image.exponents = state.data(Section::kExponents);
  image.exponent_word_count = state.bytes(Section::kExponents).size() / static_cast<std::size_t>(state.hardware.lanes);
  image.constants = state.data(Section::kConstants);
  image.constant_count = state.bytes(Section::kConstants).size() / sizeof(float);
  image.rope = state.data(Section::kRope);
  image.rope_pair_count = state.bytes(Section::kRope).size() / (2 * sizeof(float));
  return image;
}

void Bundle::forget_lane_words(std::size_t first_byte, std::size_t bytes) const {
  const auto& file = state_->files[static_cast<std::size_t>(Section::kLaneWords)];
  if (file) file->forget(first_byte, bytes);
}

void Bundle::forget_image() const {
  for (const auto& file : state_->files) {
    if (file) file->forget(0, file->bytes().size());
  }
}

std::uint64_t Bundle::image_bytes() const {
  std::uint64_t sum = 0;
  for (const Bundle& card : state_->cards) sum += card.image_bytes();
  for (const Section section :
       {Section::kLaneWords, Section::kMinimumWords, Section::kExponents, Section::kConstants, Section::kRope})
    sum += state_->manifest.file(section).bytes;
  return sum;
}

std::uint64_t Bundle::resident_bytes() const {
  if (!state_->cards.empty()) {
    std::uint64_t sum = 0;
    for (const Bundle& card : state_->cards) sum += card.resident_bytes();
    return sum;
  }
  const contract::HardwareConfig& c = state_->hardware;
  const std::uint64_t kv_bytes = state_->manifest.kv_word_count * static_cast<std::uint64_t>(c.lanes) *
                                 static_cast<std::uint64_t>(c.column_groups) * contract::kWordBytes;
  return image_bytes() + kv_bytes + state_->manifest.file(Section::kProgram).bytes;
}

}  // namespace lpu::bundle
