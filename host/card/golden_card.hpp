// The golden card: the machine of hls/golden in this process. It defines what every other card must give, bit for bit.
// Relies on card.hpp.
#pragma once

#include <memory>

#include "host/card/card.hpp"

namespace lpu::card {

std::unique_ptr<Card> make_golden_card(const bundle::Bundle& bundle, const CardOptions& options);

}  // namespace lpu::card
