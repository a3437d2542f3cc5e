// A Verilated module's ports as bit fields: Verilator makes a port an integer of 8 to 64 bits or an array of 32-bit
// words, by its width; tests name bits. Relies on nothing but that.
#pragma once

#include <cstdint>
#include <type_traits>

namespace lpu {
namespace cosim {

template <typename Port>
constexpr bool kIsWide = !std::is_integral_v<Port>;

/// Up to 64 bits from bit lsb on.
template <typename Port>
std::uint64_t get(const Port& port, int lsb, int width) {
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if constexpr (kIsWide<Port>) {
    std::uint64_t value = 0;
    for (int taken = 0; taken < width;) {
      const int bit = lsb + taken, from = bit % 32;
      value |= (std::uint64_t{port[bit / 32]} >> from) << taken;
      taken += 32 - from;
    }
    return value & mask;
  } else {
    return (static_cast<std::uint64_t>(port) >> lsb) & mask;
  }
}
template <typename Port>
std::int64_t get_signed(const Port& port, int lsb, int width) {
  const std::uint64_t value = get(port, lsb, width);
  return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}

/// The low `width` bits of value to the port, from bit lsb on.
template <typename Port>
void put(Port& port, int lsb, int width, std::uint64_t value) {
  for (int done = 0; done < width;) {
    if constexpr (kIsWide<Port>) {
      const int bit = lsb + done, from = bit % 32;
      const int count = width - done < 32 - from ? width - done : 32 - from;
      const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1) << from;
      std::uint32_t word = port[bit / 32];
      word = (word & ~mask) | (static_cast<std::uint32_t>(value >> done << from) & mask);
      port[bit / 32] = word;
      done += count;
    } else {
      const std::uint64_t mask = (width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1) << lsb;
      port = static_cast<Port>((static_cast<std::uint64_t>(port) & ~mask) | ((value << lsb) & mask));
      done = width;
    }
  }
}

/// One clock: rising edge, then the state after it is on the outputs.
template <typename Module>
void tick(Module& module) {
  module.clk_i = 0;
  module.eval();
  module.clk_i = 1;
  module.eval();
  module.clk_i = 0;
  module.eval();
}

}  // namespace cosim
}  // namespace lpu
