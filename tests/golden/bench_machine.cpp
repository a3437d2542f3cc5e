// How long the golden card takes: one token of SmolLM2's shapes, its dots alone, and its scoreboard.
// Relies on Google Benchmark; run test results don't depend on it. Random weights: time doesn't depend on their values.
#include <benchmark/benchmark.h>

#include "hls/golden/machine.hpp"
#include "hls/golden/scoreboard.hpp"
#include "tests/golden/smollm2_shapes.hpp"

namespace lpu::golden::testing {
namespace {

struct Fixture {
  LlamaShapes shapes = smollm2_shapes();
  LlamaImage image{shapes, 0};
  contract::Program program = llama_program(shapes);
};

Fixture& fixture() {
  static Fixture one;
  return one;
}

void token(benchmark::State& state) {
  Fixture& f = fixture();
  Machine machine(f.shapes.config, f.shapes.model, f.program, f.image.view, static_cast<unsigned>(state.range(0)));
  StepOptions options;
  std::int32_t next = 1;
  for (std::uint32_t position = 0; position < 32; ++position) next = machine.step(next, position, options).next_token;
  for (auto _ : state) next = machine.step(next, static_cast<std::uint32_t>(state.range(1)), options).next_token;
}
BENCHMARK(token)->Args({1, 32})->Args({2, 32})->Args({1, 255})->UseRealTime()->Unit(benchmark::kMillisecond);

void scoreboard(benchmark::State& state) {
  Fixture& f = fixture();
  Scoreboard board(f.shapes.config, f.program, f.image.view.lane_word_count, f.image.view.kv_word_count);
  for (auto _ : state)
    benchmark::DoNotOptimize(board.token(static_cast<std::uint32_t>(state.range(0)), TokenPart::whole(true)).cycles);
}
BENCHMARK(scoreboard)->Arg(32)->Arg(255)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lpu::golden::testing

BENCHMARK_MAIN();
