// Greedy pair merging, the heart of both kinds of tokenizer: a chain of symbols, a heap of pairs that may merge, the
// best one first, the leftmost of equals. n symbols take O(n log n), however long a word is. Relies on nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace lpu::model {

/// Scratch of one encoding; reused from word to word. Rank: what pairs are ordered by, smaller is merged sooner.
template <typename Rank>
class MergeQueue {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Symbol {
    std::int32_t id;      ///< what it has become; meaning is the caller's
    std::uint32_t begin;  ///< in the word, bytes
    std::uint32_t size;   ///< bytes; 0 once merged into its left neighbour
    std::uint32_t previous;
    std::uint32_t next;
  };
  struct Merge {
    Rank rank;
    std::int32_t id;  ///< of the merged symbol
  };

  void clear() { symbols_.clear(); }
  void append(std::int32_t id, std::uint32_t begin, std::uint32_t size) {
    const auto index = static_cast<std::uint32_t>(symbols_.size());
    if (index > 0) symbols_.back().next = index;
    symbols_.push_back({id, begin, size, index == 0 ? kNone : index - 1, kNone});
  }

  /// find(left, right) → std::optional<Merge> says whether two neighbours merge.
  template <typename Find>
  void run(const Find& find) {
    for (std::uint32_t right = 1; right < symbols_.size(); ++right) offer(right - 1, right, find);
    while (!pairs_.empty()) {
      const Pair pair = pairs_.top();
      pairs_.pop();
      Symbol& left = symbols_[pair.left];
      Symbol& right = symbols_[pair.right];
      // A pair is stale when either side has merged since, which shows in the sizes.
      if (left.size == 0 || right.size == 0 || left.size + right.size != pair.size) continue;
      left.id = pair.id;
      left.size = pair.size;
      left.next = right.next;
      right.size = 0;
      if (left.next != kNone) symbols_[left.next].previous = pair.left;
      if (left.previous != kNone) offer(left.previous, pair.left, find);
      if (left.next != kNone) offer(pair.left, left.next, find);
    }
  }

  /// Calls use(symbol) for what is left, in order.
  template <typename Use>
  void for_each(const Use& use) const {
    for (const Symbol& symbol : symbols_) {
      if (symbol.size > 0) use(symbol);
    }
  }

 private:
  struct Pair {
    Rank rank;
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t size;  ///< of both when they were offered
    std::int32_t id;
    bool operator<(const Pair& other) const {  // std::priority_queue puts the largest on top
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };

  template <typename Find>
  void offer(std::uint32_t left, std::uint32_t right, const Find& find) {
    const std::optional<Merge> merge = find(symbols_[left], symbols_[right]);
    if (merge) pairs_.push({merge->rank, left, right, symbols_[left].size + symbols_[right].size, merge->id});
  }

  std::vector<Symbol> symbols_;
  std::priority_queue<Pair> pairs_;
};

}  // namespace lpu::model
