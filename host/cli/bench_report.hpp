// What a benchmark was, as tables for people, as JSON (keys: docs/json.md) and as a picture. Relies on host/bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/bench/card_bench.hpp"
#include "host/bench/endpoint.hpp"
#include "host/bench/plot.hpp"
#include "host/cli/console.hpp"

namespace lpu::cli {

struct BenchFacts {
  const bundle::Bundle& bundle;
  std::string card;
  bench::Task task;
  std::size_t sessions = 1;
  std::size_t requests = 0;  ///< drawn, the refused ones included
  std::uint64_t seed = 0;
  bench::Admission admission;
  std::optional<bench::CardBench> on_card;
  std::string endpoint;        ///< its address
  std::string endpoint_model;  ///< as the server calls it
  std::optional<std::vector<bench::EndpointRun>> on_endpoint;
};

Json bench_json(const BenchFacts& facts);
std::string bench_text(const BenchFacts& facts);
bench::Plot bench_plot(const BenchFacts& facts);

}  // namespace lpu::cli
