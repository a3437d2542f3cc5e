// See group.hpp.
#include "host/bundle/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "host/base/error.hpp"
#include "host/base/mapped_file.hpp"
#include "host/bundle/checksum.hpp"
#include "host/bundle/json_fields.hpp"
#include "host/bundle/layout.hpp"

namespace lpu::bundle {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kPhaseLimitCycles = (1U << 24) - 1;  ///< as a program's
constexpr std::uint32_t kTokenLimitCycles = 1U << 30;

void read_link(const Fields& fields, GroupPlan& plan) {
  plan.link_name = fields.text("name");
  const auto number = [&](const char* key) { return static_cast<int>(fields.integer(key, 0, 1U << 30)); };
  plan.link.megabits_per_s = number("megabits_per_s");
  plan.link.latency_ns = number("latency_ns");
  plan.link.jitter_ns = number("jitter_ns");
  if (const char* fault = contract::fault_of(plan.link))
    fields.refuse("", std::string("doesn't describe a link: ") + fault);
}

[[noreturn]] void refuse_card(const fs::path& folder, std::size_t card, const std::string& problem) {
  fail(ExitCode::kBadInput, "{}: {}; compile the model again", (folder / card_folder(card) / kManifestFile).string(),
       problem);
}

/// What a card's manifest.crc32 says; "" where it can't be read: opening the card tells why.
std::string noted_checksum(const fs::path& folder) {
  const fs::path path = folder / kManifestChecksumFile;
  std::error_code error;
  constexpr std::uintmax_t kNoteBytes = 9;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) != kNoteBytes) return "";
  const MappedFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), kNoteBytes - 1};
}

}  // namespace

std::string group_text(const GroupManifest& group) {
  const GroupPlan& plan = group.plan;
  Json cards = Json::array();
  for (std::size_t i = 0; i < plan.cards.size(); ++i)
    cards.push_back({{"folder", card_folder(i)},
                     {"manifest_crc32", crc32_text(group.card_checksums.at(i))},
                     {"embedding_sends", plan.cards[i].embedding_sends},
                     {"layers_send", plan.cards[i].layers_send}});
  Json report = Json::parse(group.report_json, nullptr, false);
  if (report.is_discarded()) fail(ExitCode::kInternal, "The compiler's report isn't JSON, so no group was written.");
  const Json whole = {{"format", kGroupFormatName},
                      {"format_version", kFormatVersion},
                      {"contract", fmt::format("{:016x}", group.contract_hash)},
                      {"hardware_name", group.hardware_name},
                      {"model_name", group.model_name},
                      {"model_file_bytes", group.model_file_bytes},
                      {"shape", shape_json(group.shape)},
                      {"link",
                       {{"name", plan.link_name},
                        {"megabits_per_s", plan.link.megabits_per_s},
                        {"latency_ns", plan.link.latency_ns},
                        {"jitter_ns", plan.link.jitter_ns}}},
                      {"cards", cards},
                      {"cycles_with_head", group.cycles_with_head},
                      {"report", report}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

GroupManifest parse_group(std::string_view text, const std::string& name) {
  const Json whole = parse_json(text, kGroupLimitBytes, name);
  const Fields fields(whole, "", name);
  check_format(fields, kGroupFormatName);
  GroupManifest group;
  group.contract_hash = fields.hexadecimal("contract", 16);
  group.hardware_name = fields.text("hardware_name");
  group.model_name = fields.text("model_name");
  check_contract(group.contract_hash, group.hardware_name, name);

  group.model_file_bytes = fields.integer("model_file_bytes", 0, std::uint64_t{1} << 48);
  const Fields shape = fields.object("shape");
  group.shape = read_shape(shape);
  if (group.shape.first_id != 0 || group.shape.held_ids() != group.shape.vocabulary)
    shape.refuse("ids", "leaves out a part of the vocabulary, but a group holds all of it");
  read_link(fields.object("link"), group.plan);
  const std::uint32_t steps = (group.shape.context_tokens + 31) / 32;
  const std::size_t cards = fields.array_size("cards", 2, kCardLimit);
  for (std::size_t i = 0; i < cards; ++i) {
    const Fields card = fields.entry("cards", i);
    if (card.text("folder") != card_folder(i)) card.refuse("folder", "isn't \"" + card_folder(i) + "\"");
    group.card_checksums.push_back(static_cast<std::uint32_t>(card.hexadecimal("manifest_crc32", 8)));
    group.plan.cards.push_back({card.integers("embedding_sends", steps, 0, kPhaseLimitCycles),
                                card.integers("layers_send", steps, 0, kPhaseLimitCycles)});
  }
  group.cycles_with_head = fields.integers("cycles_with_head", steps, 1, kTokenLimitCycles);
  group.report_json = fields.value("report").dump(-1, ' ', false, Json::error_handler_t::replace);
  return group;
}

void check_places(const fs::path& folder, const GroupManifest& group) {
  const std::size_t cards = group.card_checksums.size();
  for (std::size_t i = 0; i < cards; ++i) {
    const fs::path card = folder / card_folder(i);
    std::error_code error;
    if (!fs::is_directory(card, error))
      fail(ExitCode::kBadInput,
           "{}: card {} of {} is missing; copy the group's folder with all that is in it, or "
           "compile the model again",
           card.string(), i, cards);
  }
  for (std::size_t i = 0; i < cards; ++i) {
    const fs::path card = folder / card_folder(i);
    const std::string noted = noted_checksum(card);
    if (noted.empty() || noted == crc32_text(group.card_checksums[i])) continue;
    for (std::size_t other = 0; other < cards; ++other)
      if (noted == crc32_text(group.card_checksums[other]))
        fail(ExitCode::kBadInput,
             "{}: holds the bundle that belongs into {}; put the cards' folders back in their "
             "order, or compile the model again",
             card.string(), card_folder(other));
    fail(ExitCode::kBadInput,
         "{}: its manifest has the checksum {}, but {} says {}, so it was made by another plan; "
         "compile the model again",
         card.string(), noted, kGroupFile, crc32_text(group.card_checksums[i]));
  }
}

void check_cards(const fs::path& folder, const GroupManifest& group, const std::vector<Bundle>& cards) {
  const contract::ModelShape& whole = group.shape;
  std::uint32_t layers = 0, ids = 0;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const contract::ModelShape& shape = cards[i].shape();
    if (!cards[i].program().is_of_group()) refuse_card(folder, i, "is a card alone, not one of a group");
    if (cards[i].hardware().clock_mhz != cards[0].hardware().clock_mhz)
      refuse_card(folder, i,
                  fmt::format("field 'hardware.clock_mhz' is {}, but card 0 has {}", cards[i].hardware().clock_mhz,
                              cards[0].hardware().clock_mhz));
    if (const char* field = difference(shape, whole))
      refuse_card(folder, i, fmt::format("field 'shape.{}' isn't what {} says", field, kGroupFile));
    if (shape.first_id != ids)
      refuse_card(folder, i,
                  fmt::format("field 'shape.first_id' is {}, but the cards before it hold ids up to {}", shape.first_id,
                              static_cast<std::int64_t>(ids) - 1));
    layers += shape.layers;
    ids += shape.held_ids();
  }
  if (ids != whole.vocabulary)
    refuse_card(folder, cards.size() - 1,
                fmt::format("field 'shape.ids' ends at {}, but the vocabulary has {} ids", ids, whole.vocabulary));
  if (layers != whole.layers)
    fail(ExitCode::kBadInput, "{}: field 'shape.layers' is {}, but the cards have {} together; compile the model again",
         (folder / kGroupFile).string(), whole.layers, layers);
}

}  // namespace lpu::bundle
