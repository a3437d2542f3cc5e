// What a benchmark asks: how long prompts and answers are, the prompts' text, and which of them fit a context.
// The same seed gives the same requests on any machine: lengths and sentences come from the engine's Philox, by integer
// arithmetic. Relies on host/model for the tokenizer that measures a prompt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/tokenizer.hpp"

namespace lpu::bench {

struct Task {
  std::string name;
  std::size_t prompt_tokens;            ///< the mean
  std::size_t prompt_deviation_tokens;  ///< standard deviation; 0: all alike
  std::size_t output_tokens;
};

/// "llmperf": 550 ± 150 tokens in, 150 out. "long": 24 in, 1,000 out, which together just fit a context of 1,024.
/// Error(kUsage) naming both otherwise.
Task find_task(std::string_view name);

struct Request {
  std::size_t index = 0;  ///< of all that were drawn, from 0
  std::string prompt;     ///< ASCII; no two requests begin alike, so that no server finds a prompt in its cache
  std::vector<std::int32_t> prompt_ids;  ///< as the tokenizer cuts it, the start token included
  std::size_t output_tokens = 0;
};

/// Prompt lengths are normal (to the accuracy of a sum of twelve uniform numbers), drawn again when below 1 token. A
/// text is cut where the tokenizer counts the length that was drawn, or, where no cut gives it, one below.
std::vector<Request> draw_requests(const Task& task, std::size_t count, std::uint64_t seed,
                                   const model::Tokenizer& tokenizer);

struct Refusal {
  std::size_t index = 0;
  std::size_t prompt_tokens = 0;
  std::string why;  ///< a sentence
};

struct Admission {
  std::vector<Request> admitted;
  std::vector<Refusal> refused;
};

/// A request takes prompt + answer − 1 positions, since the last token isn't fed back.
Admission admit(std::vector<Request> requests, std::size_t context_tokens);

}  // namespace lpu::bench
