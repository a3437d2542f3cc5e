// lpu_mvu_dot against block_dot, block_term and accumulate of hls/engine: every format, edges of codes, mantissas,
// scales, minimums and offsets, blocks without gaps and with them, at exactly the stage that lpu_mvu_pkg says.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "Vmvu_dot_32.h"
#include "Vmvu_dot_4.h"
#include "tests/cosim/mvu/mvu_values.hpp"
#include "tests/cosim/wires.hpp"

namespace lpu {
namespace cosim {
namespace {

constexpr int kCycles = 15 - 3;  ///< MemoryStage to AlignedStage
constexpr int kTermHighBits = 35;

struct Expected {
  int cycle;
  std::vector<engine::Int128> terms;  ///< [lanes]
};

template <typename Module>
class Bench {
 public:
  explicit Bench(int lanes, std::uint64_t seed) : lanes_(lanes), random_(seed) {
    module_.rst_ni = 0;
    tick(module_);
    module_.rst_ni = 1;
  }

  /// One random block of this format.
  void block(const Format& format) {
    const std::int32_t row_exponent = pick(random_, -32000, 32000);
    const Block block = random_block(random_, format.relative, row_exponent);
    std::vector<std::uint16_t> minimums(static_cast<std::size_t>(lanes_));
    for (std::uint16_t& minimum : minimums) minimum = random_minimum(random_);
    this->block(format, block, row_exponent, minimums);
  }
  /// This block against random words, a beat a cycle. minimums: [lanes].
  void block(const Format& format, const Block& block, std::int32_t row_exponent,
             const std::vector<std::uint16_t>& minimums) {
    const std::size_t lanes = static_cast<std::size_t>(lanes_), nibbles = static_cast<std::size_t>(format.nibbles);
    std::vector<Word> words(lanes * nibbles);
    for (Word& word : words) word = random_word(random_);
    for (int n = 0; n < format.nibbles; ++n) {
      drive(format, n, block, row_exponent);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        put_word(static_cast<int>(lane), words[lane * nibbles + static_cast<std::size_t>(n)]);
        put(module_.minimums_i, static_cast<int>(lane) * 16, 16,
            n == 0 ? minimums[lane] : static_cast<std::uint16_t>(random_()));
      }
      if (n == format.nibbles - 1) {
        Expected expected{cycle_ + kCycles, {}};
        for (std::size_t lane = 0; lane < lanes; ++lane)
          expected.terms.push_back(
              shifted_term(format, words.data() + lane * nibbles, minimums[lane], block, row_exponent));
        expected_.push_back(expected);
      }
      clock();
    }
  }
  /// A cycle without a beat, with noise on every input.
  void gap() {
    module_.beat_i = 0;
    const Word noise = random_word(random_);
    for (int lane = 0; lane < lanes_; ++lane) put_word(lane, noise);
    clock();
  }
  void finish() {
    for (int i = 0; i <= kCycles; ++i) gap();
    EXPECT_TRUE(expected_.empty());
  }

 private:
  void drive(const Format& format, int n, const Block& block, std::int32_t row_exponent) {
    std::uint64_t beat = 0;
    put_field(&beat, kBeatValid, 1);
    put_field(&beat, kBeatNibble, static_cast<std::uint64_t>(n));
    put_field(&beat, kBeatLastNibble, n == format.nibbles - 1);
    put_field(&beat, kBeatSignedTop, format.signed_code && n == format.nibbles - 1);
    put_field(&beat, kBeatSignedScale, format.signed_scale);
    put_field(&beat, kBeatHasMinimum, format.has_minimum);
    put_field(&beat, kBeatUnitScale, format.unit_scale);
    put_field(&beat, kBeatRelative, format.relative);
    module_.beat_i = beat;
    for (int i = 0; i < 32; ++i)
      put(module_.block_i, i * 10, 10, static_cast<std::uint64_t>(block.mantissas[static_cast<std::size_t>(i)]));
    put(module_.block_i, 320, kBlockExponentBits, static_cast<std::uint64_t>(block.exponent));
    put(module_.row_exponent_i, 0, kBlockExponentBits, static_cast<std::uint64_t>(row_exponent));
  }
  void put_word(int lane, const Word& word) {
    for (int byte = 0; byte < 16; ++byte)
      put(module_.words_i, lane * kWordBits + 8 * byte, 8, word.data[static_cast<std::size_t>(byte)]);
    put(module_.words_i, lane * kWordBits + 128, 16, word.side);
  }
  void clock() {
    tick(module_);
    ++cycle_;
    if (expected_.empty() || expected_.front().cycle != cycle_) return;
    for (int lane = 0; lane < lanes_; ++lane) {
      const engine::Int128 term = expected_.front().terms[static_cast<std::size_t>(lane)];
      ASSERT_EQ(get(module_.low_o, lane * kLowBits, kLowBits), low_half(term))
          << "cycle " << cycle_ << " lane " << lane;
      ASSERT_EQ(get_signed(module_.high_o, lane * kTermHighBits, kTermHighBits), high_half(term))
          << "cycle " << cycle_ << " lane " << lane;
    }
    expected_.pop_front();
  }

  Module module_;
  int lanes_;
  Generator random_;
  int cycle_ = 0;
  std::deque<Expected> expected_;
};

template <typename Module>
void run_random(int lanes, int blocks) {
  for (const std::uint64_t seed : seeds()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Bench<Module> bench(lanes, seed);
    Generator random(seed + 1);
    for (int i = 0; i < blocks && !::testing::Test::HasFatalFailure(); ++i) {
      bench.block(random_format(random));
      while (random() % 4 == 0) bench.gap();
    }
    bench.finish();
  }
}

TEST(MvuDot, RandomBlocksOfFourLanesEqualTheEngine) { run_random<Vmvu_dot_4>(4, 4000); }
TEST(MvuDot, RandomBlocksOfThirtyTwoLanesEqualTheEngine) { run_random<Vmvu_dot_32>(32, 500); }

TEST(MvuDot, EveryFormatWithoutGapsEqualsTheEngine) {
  Bench<Vmvu_dot_4> bench(4, 7);
  for (int code = 0; code < 3 * 32 && !HasFatalFailure(); ++code) {
    Format format;
    format.nibbles = code % 3 + 1;
    format.signed_code = (code / 3 & 1) != 0;
    format.signed_scale = (code / 3 & 2) != 0;
    format.has_minimum = (code / 3 & 4) != 0;
    format.unit_scale = (code / 3 & 8) != 0;
    format.relative = (code / 3 & 16) != 0;
    for (int i = 0; i < 40; ++i) bench.block(format);
  }
  bench.finish();
}

// The minimum is multiplied digit by digit, two bits each: every value of every digit alone and with all others set,
// so both extremes, −1 and 1, against the largest block sums; shifts of 0 and 15.
TEST(MvuDot, EveryDigitOfAMinimumEqualsTheEngine) {
  constexpr int kMantissaBits = contract::kMinimumMantissaBits, kDigitBits = 2, kShiftBits = 4;
  std::vector<std::uint16_t> mantissas{0x000, 0x001, 0x7ff, 0x800, 0xfff};
  for (int lsb = 0; lsb < kMantissaBits; lsb += kDigitBits)
    for (unsigned digit = 0; digit < 1U << kDigitBits; ++digit) {
      const unsigned place = digit << lsb, all = (1U << kMantissaBits) - 1;
      mantissas.push_back(static_cast<std::uint16_t>(place));
      mantissas.push_back(static_cast<std::uint16_t>((all & ~(3U << lsb)) | place));
    }
  Bench<Vmvu_dot_4> bench(4, 9);
  Format format;
  format.has_minimum = true;
  for (const int largest : {511, -511, 1})
    for (const int shift : {0, (1 << kShiftBits) - 1})
      for (const int offset : {0, 31})
        for (std::size_t i = 0; i < mantissas.size() && !HasFatalFailure(); ++i) {
          Block block;
          block.mantissas.fill(static_cast<std::int16_t>(largest));
          block.exponent = offset;
          std::vector<std::uint16_t> minimums;  // each lane another mantissa
          for (std::size_t lane = 0; lane < 4; ++lane)
            minimums.push_back(static_cast<std::uint16_t>(mantissas[(i + lane) % mantissas.size()] |
                                                          static_cast<unsigned>(shift) << kMantissaBits));
          bench.block(format, block, 0, minimums);
        }
  bench.finish();
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
