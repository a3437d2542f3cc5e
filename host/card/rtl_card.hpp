// The RTL card: the core of rtl/, Verilated, in this process. It must give what the golden card gives, bits and cycles;
// it is slow. Relies on card.hpp and rtl_driver.hpp.
#pragma once

#include <memory>

#include "host/card/card.hpp"

namespace lpu::card {

/// Errors as RtlLibrary::open(), and Error(kCard) when the program has a fault or a hazard (unless options.unchecked).
std::unique_ptr<Card> make_rtl_card(const bundle::Bundle& bundle, const CardOptions& options);

}  // namespace lpu::card
