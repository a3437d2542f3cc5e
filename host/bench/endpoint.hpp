// Sends a benchmark's prompts to any OpenAI-compatible server, over several connections at once, and notes when each
// piece of an answer came, by the wall clock. So another machine, such as a GPU, is measured by the same rules.
//
// The first request that fails ends the benchmark: means over the others would flatter. Relies on cpp-httplib (in the
// .cpp only) and event_stream.hpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/bench/figures.hpp"
#include "host/bench/workload.hpp"

namespace lpu::bench {

struct EndpointOptions {
  std::string url;             ///< http://host:port or https://…, with a base path or without (then /v1)
  std::string model;           ///< as the server calls it
  bool is_chat = false;        ///< /chat/completions instead of /completions
  std::string api_key;         ///< empty: none is sent
  bool asks_for_usage = true;  ///< stream_options.include_usage
  bool ignores_end = false;    ///< "ignore_eos": vLLM, llama.cpp and others know it, some refuse it
  double temperature = 0;
  std::uint64_t seed = 0;  ///< that of request 0; request i has seed + i
  std::size_t sessions = 1;
  double interval_s = 0;    ///< between the first requests of two sessions
  std::size_t warm_up = 0;  ///< requests before the clock starts, from the front of the list
  double timeout_s = 180;   ///< of one request, whole
  std::function<bool()> is_interrupted;
  std::function<void(double)> on_progress;  ///< share of the requests, 0…1, from one thread at a time; may be empty
};

struct EndpointRun {
  std::size_t index = 0;
  std::size_t session = 0;
  RequestTimes times;  ///< output_tokens as the server counted them, else as the tokenizer counts its text
  std::size_t asked_tokens = 0;
  bool is_counted_by_server = false;
};

struct Address {
  std::string server;  ///< scheme://host[:port]
  std::string path;    ///< base path without the last slash
};
/// Error(kUsage) for what isn't an http(s) address.
Address parse_address(const std::string& url);

/// In order of request. Error(kIo) when the server is absent, refuses, breaks off or is too slow; Error(kBadInput) when
/// it sends what isn't understood; Error(kUsage) for a bad address or key; Error(kInterrupted).
std::vector<EndpointRun> run_on_endpoint(const std::vector<Request>& requests, const model::Tokenizer& tokenizer,
                                         const EndpointOptions& options);

}  // namespace lpu::bench
