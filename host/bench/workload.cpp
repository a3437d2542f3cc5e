// See workload.hpp.
#include "host/bench/workload.hpp"

#include <algorithm>
#include <cmath>

#include "hls/engine/random.hpp"
#include "host/base/error.hpp"
#include "host/bench/prose.hpp"

namespace lpu::bench {
namespace {

/// Counter word that keeps these draws apart from a card's noise (0) and the host's sampling (1).
constexpr std::uint32_t kLengthStream = 2;
constexpr std::uint32_t kTextStream = 3;
/// So far back a cut of the wanted length is looked for: more bytes than a token has in prose.
constexpr std::size_t kCutSearchBytes = 48;

engine::PhiloxWords draw(std::uint64_t seed, std::uint32_t stream, std::size_t request, std::size_t number) {
  const engine::PhiloxWords counter = {
      {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(request), stream, 0}};
  return engine::philox4x32(counter, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

std::size_t draw_length(const Task& task, std::uint64_t seed, std::size_t request) {
  const auto mean = static_cast<double>(task.prompt_tokens);
  const auto deviation = static_cast<double>(task.prompt_deviation_tokens);
  for (std::size_t attempt = 0; true; ++attempt) {
    std::uint64_t sum = 0;  // of twelve numbers of variance 1/12 each (in units of 2^32)
    for (std::size_t i = 0; i < 3; ++i) {
      for (const std::uint32_t word : draw(seed, kLengthStream, request, 3 * attempt + i).word) sum += word;
    }
    const double deviations = static_cast<double>(sum) * 0x1p-32 - 6;
    const double length = std::round(mean + deviation * deviations);
    if (length >= 1) return static_cast<std::size_t>(length);
  }
}

class PromptWriter {
 public:
  PromptWriter(const model::Tokenizer& tokenizer, std::uint64_t seed, std::size_t request)
      : tokenizer_(tokenizer), seed_(seed), request_(request) {}

  std::string write(std::size_t tokens) const {
    std::string text = fmt::format("{}. ", request_ + 1);
    std::size_t enough = 0;  // of the text's bytes are known to be at most `tokens` tokens
    for (std::size_t i = 0; count(text) <= tokens; ++i) {
      enough = text.size();
      text += fmt::format("{} ", kSentences[draw(seed_, kTextStream, request_, i).word[0] % kSentences.size()]);
    }
    return text.substr(0, cut(text, enough, tokens));
  }

 private:
  [[nodiscard]] std::size_t count(std::string_view text) const { return tokenizer_.encode(text, false, true).size(); }

  /// The longest beginning of at most `tokens` tokens, or a little shorter where that one has fewer. At least a byte.
  [[nodiscard]] std::size_t cut(std::string_view text, std::size_t low, std::size_t tokens) const {
    std::size_t high = text.size();
    low = std::max<std::size_t>(low, 1);
    while (high - low > 1) {  // a longer text has more tokens, but for a word that is cut
      const std::size_t middle = low + (high - low) / 2;
      (count(text.substr(0, middle)) <= tokens ? low : high) = middle;
    }
    const std::size_t lowest = low - std::min(low - 1, kCutSearchBytes);
    for (std::size_t at = low; at >= lowest; --at) {
      if (count(text.substr(0, at)) == tokens) return at;
    }
    return low;
  }

  const model::Tokenizer& tokenizer_;
  std::uint64_t seed_;
  std::size_t request_;
};

}  // namespace

Task find_task(std::string_view name) {
  if (name == "llmperf") return {"llmperf", 550, 150, 150};
  if (name == "long") return {"long", 24, 0, 1000};
  fail(ExitCode::kUsage,
       "There is no task \"{}\"; use llmperf (550 +- 150 tokens in, 150 out) or long (24 in, 1,000 out).", name);
}

std::vector<Request> draw_requests(const Task& task, std::size_t count, std::uint64_t seed,
                                   const model::Tokenizer& tokenizer) {
  std::vector<Request> requests(count);
  for (std::size_t i = 0; i < count; ++i) {
    Request& request = requests[i];
    request.index = i;
    request.prompt = PromptWriter(tokenizer, seed, i).write(draw_length(task, seed, i));
    request.prompt_ids = tokenizer.encode(request.prompt, false, true);
    request.output_tokens = task.output_tokens;
  }
  return requests;
}

Admission admit(std::vector<Request> requests, std::size_t context_tokens) {
  Admission result;
  for (Request& request : requests) {
    const std::size_t prompt_tokens = request.prompt_ids.size();
    const std::size_t needed = prompt_tokens + request.output_tokens - 1;
    if (needed <= context_tokens) {
      result.admitted.push_back(std::move(request));
    } else {
      result.refused.push_back({request.index, prompt_tokens,
                                fmt::format("{} tokens in and {} out need a context of {}, but the bundle's holds {}.",
                                            prompt_tokens, request.output_tokens, needed, context_tokens)});
    }
  }
  return result;
}

}  // namespace lpu::bench
