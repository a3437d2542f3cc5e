// See card.hpp. A new kind of card is one entry of the list below.
#include "host/card/card.hpp"

#include "host/base/error.hpp"
#include "host/card/golden_card.hpp"
#include "host/card/rtl_card.hpp"

namespace lpu::card {

std::unique_ptr<Card> open_card(const std::string& name, const bundle::Bundle& bundle, const CardOptions& options) {
  if (name == "golden") return make_golden_card(bundle, options);
  if (name == "rtl") return make_rtl_card(bundle, options);
  fail(ExitCode::kUsage, "There is no card \"{}\"; the cards are: golden, rtl.", name);
}

}  // namespace lpu::card
