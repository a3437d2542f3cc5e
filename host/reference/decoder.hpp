// An fp32 decoder for Llama- and Qwen2-shaped models: the yardstick that the card's arithmetic is measured against.
//
// Why it exists: the card works in block floating point and fixed point; how far that is from "the model" can only be
// said by something written independently of hls/. So nothing here shares code with the card: weights are decoded to
// binary32 once, products are Eigen's, norms and softmax sum in double. Results depend on Eigen's order of summation:
// compare them with a tolerance, never with ==.
// Relies on host/model for the tensors. Used by tests and by `lpu evaluate` only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "host/model/model.hpp"
#include "host/model/tokenizer.hpp"

namespace lpu::reference {

using model::TokenId;

class Decoder {
 public:
  /// Decodes all weights to binary32 (4 bytes a weight). threads: used for every product; 0 counts as 1.
  Decoder(std::shared_ptr<const model::Model> model, unsigned threads);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// A whole window at once, from position 0, independent of step(). Row r holds the logits after
  /// tokens[first_scored + r]: what the model expects at position first_scored + r + 1.
  /// Returns [tokens.size() - first_scored × vocabulary], row after row.
  [[nodiscard]] std::vector<float> logits(std::span<const TokenId> tokens, std::size_t first_scored) const;

  /// Appends one token to the running text and writes the logits that follow it, [vocabulary].
  void step(TokenId token, std::span<float> logits);
  /// Forgets the running text; the next step() is position 0.
  void reset();
  /// Tokens appended since the beginning or the last reset().
  [[nodiscard]] std::size_t position_tokens() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lpu::reference
