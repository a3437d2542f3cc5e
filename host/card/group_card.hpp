// A group of cards that behaves as one: golden machines, one after another in this process, with what their links would
// carry handed from one to the next, and the cycles of group_clock.hpp. Why: layers split over cards, head and
// embedding by rows, must give the bits of one card. Relies on card.hpp.
#pragma once

#include <memory>

#include "host/card/card.hpp"

namespace lpu::card {

/// bundle: of a group. Errors as the golden card's, with the card's number.
std::unique_ptr<Card> make_golden_group(const bundle::Bundle& bundle, const CardOptions& options);

}  // namespace lpu::card
