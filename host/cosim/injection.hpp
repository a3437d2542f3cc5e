// Faults that are put into the RTL's copy of a bundle on purpose, to show that a lockstep run finds them and that
// errors become sentences. Relies on host/card/rtl_image.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/bundle/bundle.hpp"
#include "host/card/rtl_image.hpp"

namespace lpu::cosim {

/// Inverts a bit of an activation block, once, as soon as the core has written the block for the first time.
struct ActivationFault {
  std::uint32_t bank = 0;
  std::uint32_t address = 0;
  std::uint32_t bit = 0;  ///< of the block: 32 mantissas of 10 bits, then the exponent
};

struct Injection {
  std::vector<card::ImageFault> image;
  std::optional<ActivationFault> activation;
};

/// "KIND:…", where KIND is one of
///   weight:ADDRESS:BIT, minimum:ADDRESS:BIT, exponent:WORD:BIT, constant:INDEX:BIT, rope:PAIR:BIT   a bit of an
///   element delay:PC:±CYCLES, opcode:PC:VALUE, instruction:PC:BIT                                           of an
///   instruction activation:BANK:ADDRESS:BIT
/// Error(kUsage) with what is wrong with the text, or what lies outside the bundle.
Injection parse_injection(const std::string& text, const bundle::Bundle& bundle);

}  // namespace lpu::cosim
