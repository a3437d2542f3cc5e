// See checker.hpp.
#include "host/cosim/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace lpu::cosim {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;
constexpr std::uint32_t kSideBits = 0xFFFFU;

std::uint64_t key_of(const Place& place) {
  return static_cast<std::uint64_t>(place.kind) << 56 | static_cast<std::uint64_t>(place.first) << 24 | place.second;
}

std::string hex(std::span<const std::uint32_t> words) {
  std::string text = "0x";
  for (auto word = words.rbegin(); word != words.rend(); ++word) text += fmt::format("{:08x}", *word);
  return text;
}

std::span<const std::uint32_t> element(std::span<const std::uint32_t> value, std::size_t index, std::size_t words) {
  return index * words < value.size() ? value.subspan(index * words, std::min(words, value.size() - index * words))
                                      : std::span<const std::uint32_t>();
}

}  // namespace

void Checker::begin(Expectation expectation) {
  expectation_ = std::move(expectation);
  const std::vector<Expected>& items = expectation_.items;
  heads_.clear();
  following_.assign(items.size(), kNone);
  taken_.assign(items.size(), false);
  for (std::size_t i = items.size(); i-- > 0;) {
    const auto [found, is_new] = heads_.try_emplace(key_of(items[i].place), kNone);
    following_[i] = found->second;
    found->second = static_cast<std::uint32_t>(i);
  }
  by_cycle_.clear();
  for (std::uint32_t i = 0; i < items.size(); ++i)
    if (items[i].has_cycle) by_cycle_.push_back(i);
  std::stable_sort(by_cycle_.begin(), by_cycle_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return items[a].cycle < items[b].cycle; });
  due_ = 0;
  missing_.clear();
}

const Expected* Checker::next(const Place& place) const {
  const auto found = heads_.find(key_of(place));
  return found == heads_.end() || found->second == kNone ? nullptr : &expectation_.items[found->second];
}

void Checker::take(const Place& place, std::uint64_t cycle, std::span<const std::uint32_t> value) {
  ++writes_;
  if (place.kind == Kind::kIssue) ++instructions_;
  const auto found = heads_.find(key_of(place));
  if (found == heads_.end() || found->second == kNone) {
    ++differing_values_;
    mismatches_.push_back(
        {"unexpected", place, false, 0, 0, "", hex(element(value, 0, element_words(place.kind))), {}, cycle});
    return;
  }
  const std::uint32_t at = found->second;
  found->second = following_[at];
  taken_[at] = true;
  compare(at, cycle, value);
}

void Checker::compare(std::uint32_t at, std::uint64_t cycle, std::span<const std::uint32_t> value) {
  const Expected& item = expectation_.items[at];
  Mismatch mismatch;
  mismatch.place = item.place;
  mismatch.has_run = true;
  mismatch.run = item.run;
  mismatch.cycle_got = cycle;
  if (item.has_cycle) mismatch.cycle_expected = item.cycle;
  if (item.has_value) {
    const std::span<const std::uint32_t> expected(expectation_.values.data() + item.value_at, item.value_words);
    const std::uint32_t words = element_words(item.place.kind);
    const std::size_t elements = (std::max(expected.size(), value.size()) + words - 1) / words;
    for (std::size_t i = 0; i < elements; ++i) {
      const std::span<const std::uint32_t> a = element(expected, i, words), b = element(value, i, words);
      const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
        return x == y || (item.ignores_side_bits && &x == &a.back() && ((x ^ y) & ~kSideBits) == 0);
      });
      if (same) continue;
      ++differing_values_;
      mismatch.what = "value";
      mismatch.element = static_cast<std::uint32_t>(i);
      mismatch.expected = hex(a);
      mismatch.got = hex(b);
      break;
    }
  }
  const auto late = missing_.find(at);
  if (item.has_cycle && item.cycle != cycle) {
    if (late == missing_.end()) ++differing_cycles_;
    if (mismatch.what.empty()) mismatch.what = "cycle";
  }
  if (mismatch.what.empty()) return;
  if (late != missing_.end())
    mismatches_[late->second] = std::move(mismatch);
  else
    mismatches_.push_back(std::move(mismatch));
}

void Checker::missing(std::uint32_t at) {
  const Expected& item = expectation_.items[at];
  ++(item.has_cycle ? differing_cycles_ : differing_values_);
  Mismatch mismatch;
  mismatch.what = "missing";
  mismatch.place = item.place;
  mismatch.has_run = true;
  mismatch.run = item.run;
  if (item.has_value)
    mismatch.expected = hex(element(std::span(expectation_.values).subspan(item.value_at, item.value_words), 0,
                                    element_words(item.place.kind)));
  if (item.has_cycle) mismatch.cycle_expected = item.cycle;
  missing_[at] = mismatches_.size();
  mismatches_.push_back(std::move(mismatch));
}

void Checker::reached(std::uint64_t cycle) {
  while (due_ < by_cycle_.size() && expectation_.items[by_cycle_[due_]].cycle <= cycle) {
    const std::uint32_t at = by_cycle_[due_++];
    if (!taken_[at]) missing(at);
  }
}

void Checker::end() {
  reached(~std::uint64_t{0});
  for (std::uint32_t i = 0; i < expectation_.items.size(); ++i)
    if (!taken_[i] && !expectation_.items[i].has_cycle) {
      missing(i);
      return;
    }
}

void Checker::differs(const char* what, std::uint64_t expected, std::uint64_t got) {
  ++differing_values_;
  Mismatch mismatch;
  mismatch.what = what;
  mismatch.expected = fmt::format("{}", static_cast<std::int64_t>(expected));
  mismatch.got = fmt::format("{}", static_cast<std::int64_t>(got));
  mismatches_.push_back(std::move(mismatch));
}

}  // namespace lpu::cosim
