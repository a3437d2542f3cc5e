// Who holds what: layers and rows of embedding and head over the cards of a group. Relies on layout.hpp.
#pragma once

#include <vector>

#include "host/compiler/group.hpp"

namespace lpu::compiler {

/// Ids are cut at multiples of this: where a row group starts on every card.
std::uint32_t id_granule(const GroupOptions& options);

/// Layers in proportion to the cards' arrays, as far as each card's memories hold them; rows of the head likewise, or
/// all of them on the last card. Error(kDoesNotFit) for fewer layers than cards.
enum class HeadSplit { kAllCards, kLastCard };
std::vector<CardShare> share_model(const model::Model& model, const GroupOptions& options, HeadSplit split);

/// Whether all the card's memories hold its share.
bool holds(const model::Model& model, const GroupOptions& options, const CardShare& share);

/// Moves `ids` rows of the head, a multiple of the granule, from one card to another; false where it has too few.
bool move_ids(std::vector<CardShare>& shares, std::size_t from, std::size_t to, std::uint32_t ids);

}  // namespace lpu::compiler
