// See card.hpp. A new kind of card is one entry of the list below.
#include "host/card/card.hpp"

#include <filesystem>
#include <system_error>

#include "host/base/error.hpp"
#include "host/card/golden_card.hpp"
#include "host/card/group_card.hpp"
#include "host/card/rtl_card.hpp"

namespace lpu::card {

void check_whole(const bundle::Bundle& bundle) {
  if (!bundle.program().is_of_group()) return;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(bundle.folder(), error);
  fail(ExitCode::kUsage, "{}: is one card of a group, which runs no tokens alone; give the group's folder, {}",
       bundle.folder().string(), (folder.has_filename() ? folder : folder.parent_path()).parent_path().string());
}

void check_single(const bundle::Bundle& bundle) {
  check_whole(bundle);
  if (!bundle.cards().empty())
    fail(ExitCode::kUsage,
         "{}: is a group of {} cards, but the Verilated core has no links yet; run it on the card \"golden\", or "
         "compile the model for a card alone",
         bundle.folder().string(), bundle.cards().size());
}

std::unique_ptr<Card> open_card(const std::string& name, const bundle::Bundle& bundle, const CardOptions& options) {
  check_whole(bundle);
  if (name == "golden")
    return bundle.cards().empty() ? make_golden_card(bundle, options) : make_golden_group(bundle, options);
  if (name == "rtl") {
    check_single(bundle);
    return make_rtl_card(bundle, options);
  }
  fail(ExitCode::kUsage, "There is no card \"{}\"; the cards are: golden, rtl.", name);
}

}  // namespace lpu::card
