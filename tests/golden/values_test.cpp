// Each opcode of VPU and SMX against a straightforward recomputation with the engine's functions: where every row's
// number comes from and where its result goes (docs/isa.md), not the arithmetic itself (tests/engine). Relies on
// Machine::state() to set what an instruction reads. 4 lanes × 4 groups, two segments, heads of 64.
#include "tests/golden/values_fixture.hpp"

namespace lpu::golden::testing {
namespace {

TEST_F(GoldenValuesTest, ResidualTakesConvertedSumsAndMakesTheNextNorm) {
  contract::VectorFields f = rows(64, 32);
  f.starts_norm = f.ends_norm = 1;
  std::vector<float> values, gained;
  engine::Int128 squares = 0;
  for (std::uint32_t i = 0; i < 64; ++i) {
    values.push_back(converted(f, i));
    gained.push_back(engine::multiply(values[i], state.constants[100 + 96 * kIteration + i], status));
    squares += engine::square_term(values[i], status);
  }
  execute_residual(state, f, kIteration);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), state.residual.begin() + 32));
  expect_block(gained.data(), 1, 5);  // block 1 of the vector
  expect_block(gained.data() + 32, 2, 5);
  EXPECT_EQ(state.scales[1], engine::norm_scale(squares, engine::inverse_width_factor(96), 1e-5f, status));
}

TEST_F(GoldenValuesTest, EmbeddingRowComesFromOneLaneOfEveryGroup) {
  contract::VectorFields f = rows(96, 0);
  f.memory_address = 20;
  f.memory_stride = 0;
  f.row_group_words = 2;
  f.nibbles = 2;
  f.column_sets = f.signed_code = f.has_minimum = f.starts_norm = 1;
  f.minimum_address = 9;
  state.token.token = 42;  // row group 10, lane 2
  std::vector<float> gained;
  execute_embed(state, f, kIteration);
  for (std::uint32_t i = 0; i < 96; ++i) {
    const std::uint32_t group = i / 32, column = i % 32;
    const std::uint8_t* low = image.lane_words.data() + (((20 + 10 * 2) * kGroups + group) * kLanes + 2) * 18;
    const std::uint8_t* high = low + kGroups * kLanes * 18;
    const int code = (low[column / 2] >> column % 2 * 4 & 15) | (high[column / 2] >> column % 2 * 4 & 15) << 4;
    const std::uint8_t* minimum = image.minimum_words.data() + (((9 + 10) * kGroups + group) * kLanes + 2) * 2;
    const auto raw = static_cast<std::uint16_t>(minimum[0] | minimum[1] << 8);
    const engine::Int128 term = engine::block_term(code >= 128 ? code - 256 : code, low[16] | low[17] << 8, 1,
                                                   engine::minimum_mantissa(raw), engine::minimum_shift(raw));
    const float value = engine::convert(term, state.exponents[(7 + 11 * kIteration + 10) * kLanes + 2] - 4, status);
    EXPECT_EQ(state.residual[i], value) << i;
    gained.push_back(engine::multiply(value, state.constants[100 + 96 * kIteration + i], status));
  }
  for (std::uint32_t block = 0; block < 3; ++block) expect_block(gained.data() + 32 * block, block, 5);
}

TEST_F(GoldenValuesTest, QueryHeadsGoToTheirSegmentsBanksRoundByRound) {
  contract::VectorFields f = rows(4 * kHead, 0);
  f.has_bias = 1;
  std::vector<std::vector<float>> heads;
  for (std::uint32_t h = 0; h < 4; ++h) heads.push_back(rotated_head(f, h * kHead));
  execute_query(state, f, kIteration);
  for (std::uint32_t h = 0; h < 4; ++h)
    for (std::uint32_t b = 0; b < 2; ++b) expect_block(heads[h].data() + 32 * b, h % 2 * 2 + b, 5 + h / 2);
}

TEST_F(GoldenValuesTest, KeyBlocksAreFittedAndWrittenAtTheirPosition) {
  for (const std::uint32_t nibbles : {2u, 3u}) {
    contract::VectorFields f = rows(4 * kHead, 0);
    f.memory_address = kWeights;
    f.slot_words = 90;
    f.row_group_words = f.nibbles = nibbles;
    const int limit = nibbles == 2 ? 127 : 2047;
    execute_key(state, f, kIteration);
    for (std::uint32_t h = 0; h < 4; ++h) {
      const std::vector<float> head = rotated_head(f, h * kHead);
      for (std::uint32_t b = 0; b < 2; ++b) {
        float largest = 0;
        for (std::uint32_t i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(head[32 * b + i]));
        const engine::Fit fit = engine::fit(largest, limit, grid(f, h), status);
        const std::uint32_t address = kWeights + 16 * kIteration + h / 2 * 90 + kPosition / kLanes * nibbles;
        const std::uint32_t group = h % 2 * 2 + b, lane = kPosition % kLanes;
        EXPECT_EQ(state.memory.side_bits(address, group, lane), fit.scale);
        for (std::uint32_t i = 0; i < 32; ++i) {
          int code = 0;
          for (std::uint32_t n = 0; n < nibbles; ++n)
            code |= static_cast<int>(state.memory.nibble(address + n, group, lane, i) << 4 * n);
          if (code >> (4 * nibbles - 1) != 0) code -= 1 << 4 * nibbles;
          EXPECT_EQ(code, engine::kv_code(head[32 * b + i], fit, limit, status)) << h << " " << b << " " << i;
        }
      }
    }
  }
}

TEST_F(GoldenValuesTest, ValueColumnIsFittedPerHeadAndItsScaleLiesWithTheKey) {
  contract::VectorFields f = rows(4 * kHead, 0);
  f.memory_address = kWeights + 50;
  f.slot_words = 80;
  f.row_group_words = 4;
  f.key_address = kWeights;
  f.key_slot_words = 30;
  f.key_row_group_words = 2;
  execute_value(state, f, kIteration);
  for (std::uint32_t h = 0; h < 4; ++h) {
    float largest = 0;
    for (std::uint32_t d = 0; d < kHead; ++d) largest = std::max(largest, std::fabs(scaled(f, h * kHead + d)));
    const engine::Fit fit = engine::fit(largest, 127, grid(f, h), status);
    EXPECT_EQ(state.memory.side_bits(kWeights + 16 * kIteration + h / 2 * 30 + kPosition / kLanes * 2 + 1, h % 2 * 2,
                                     kPosition % kLanes),
              fit.scale);
    for (std::uint32_t d = 0; d < kHead; ++d) {
      // Position block 1 of a segment of two groups: its second group, first pair of words.
      const std::uint32_t address = kWeights + 50 + 16 * kIteration + h / 2 * 80 + d / kLanes * 4;
      const std::uint32_t group = h % 2 * 2 + 1;
      const unsigned code = state.memory.nibble(address, group, d % kLanes, kPosition % 32) |
                            state.memory.nibble(address + 1, group, d % kLanes, kPosition % 32) << 4;
      EXPECT_EQ(static_cast<std::int8_t>(code), engine::kv_code(scaled(f, h * kHead + d), fit, 127, status)) << h << d;
    }
  }
}

TEST_F(GoldenValuesTest, SoftmaxMakesWeightsPerSegmentAndMasksLaterPositions) {
  contract::SoftmaxFields f = instruction(Opcode::kSoftmax).softmax;
  f.accumulator = 2044;
  f.segments = 2;
  f.slot = 1;
  f.destination = 8;
  f.round = 3;
  f.grid_address = 150;
  f.grid_stride = 4;
  execute_softmax(state, f, kIteration);
  for (std::uint32_t j = 0; j < 2; ++j) {
    engine::SoftmaxBlock blocks[2];
    for (std::uint32_t b = 0; b < 2; ++b) {
      engine::Weight weights[32] = {};
      for (std::uint32_t i = 0; i < 32; ++i) {
        const std::uint32_t position = 32 * b + i;
        const std::size_t at = ((2044 + position / kLanes) % 2048 * kGroups + j) * kLanes + position % kLanes;
        const int exponent = engine::sum_exponent(state.exponents[(150 + 4 * kIteration) * kLanes + 2 + j]);
        weights[i] =
            engine::softmax_weight(engine::score_to_fixed(state.sums[at], exponent, status), state.value_scales[at]);
      }
      blocks[b] = engine::softmax_block(weights, b == 0 ? 32 : kPosition - 31);
      const ActivationBlock& got = state.activation(j * 2 + b, 8);
      EXPECT_TRUE(std::equal(got.mantissas, got.mantissas + 32, blocks[b].mantissas));
      EXPECT_EQ(got.exponent, blocks[b].exponent);
    }
    EXPECT_EQ(state.activation(j * 2 + 1, 8).mantissas[kPosition % 32 + 1], 0);
    const engine::SoftmaxRow row = engine::combine(blocks, 2);
    const RoundRegister& round = state.rounds[3 * kGroups + j];
    EXPECT_EQ(round.exponent, row.exponent);
    EXPECT_EQ(round.difference, row.exponent - row.whole);
    EXPECT_EQ(round.inverse, engine::softmax_inverse(row, status));
  }
}

TEST_F(GoldenValuesTest, MixTakesEverySegmentsSumsToTheRoundsPlaceInTheVector) {
  contract::VectorFields f = rows(kHead, 2 * kHead);  // round 1 of two segments
  f.round = 1;
  f.slot = 1;
  for (std::uint32_t j = 0; j < 2; ++j) {
    state.rounds[kGroups + j].difference = 20 + static_cast<int>(j);
    state.rounds[kGroups + j].inverse = 0x1p-50f * static_cast<float>(j + 3);
  }
  execute_mix(state, f, kIteration);
  for (std::uint32_t j = 0; j < 2; ++j)
    for (std::uint32_t b = 0; b < 2; ++b) {
      float values[32];
      for (std::uint32_t i = 0; i < 32; ++i)
        values[i] = engine::mix_value(sum(f, 32 * b + i, j), grid(f, 2 + j), 20 + static_cast<int>(j),
                                      0x1p-50f * static_cast<float>(j + 3), status);
      const std::uint32_t block = 4 + 2 * j + b;
      expect_block(values, block % kGroups, 5 + block / kGroups);
    }
}

TEST_F(GoldenValuesTest, SwigluPairsGateAndUpAndEndsWithZeros) {
  contract::VectorFields f = rows(64 + 20, 64);
  float values[64] = {};
  for (std::uint32_t i = 0; i < 42; ++i) values[i] = engine::swiglu(scaled(f, 2 * i), scaled(f, 2 * i + 1), status);
  execute_swiglu(state, f, kIteration);
  expect_block(values, 1, 5);
  expect_block(values + 32, 2, 5);
  EXPECT_EQ(state.activation(2, 5).mantissas[10], 0);
}

TEST_F(GoldenValuesTest, LogitsAreScaledOrderedSummedAndSampled) {
  contract::VectorFields f = rows(70, 30);
  std::vector<float> logits(100), seen(100);
  state.token.logits = seen.data();
  state.token.samples = true;
  state.token.inverse_temperature = 0.5f;
  state.token.seed = 99;
  execute_logits(state, f, kIteration);
  engine::BestLogits best;
  engine::LogSum buckets;
  std::int64_t largest = 0;
  std::uint32_t sampled = 0;
  for (std::uint32_t row = 0; row < 70; ++row) {
    const std::uint32_t id = 30 + row;
    logits[id] = scaled(f, row);
    best.insert(logits[id], id);
    buckets.insert(logits[id], status);
    const std::int64_t key =
        engine::sampling_key(logits[id], 0.5f, engine::gumbel(engine::random_number(99, kPosition, id)), status);
    if (row == 0 || key > largest) {
      largest = key;
      sampled = id;
    }
  }
  EXPECT_EQ(seen, logits);
  EXPECT_TRUE(std::equal(best.ids, best.ids + 64, state.token.best.ids));
  EXPECT_TRUE(std::equal(std::begin(buckets.buckets), std::end(buckets.buckets), state.token.buckets.buckets));
  EXPECT_EQ(state.token.best_key, largest);
  EXPECT_EQ(state.token.best_key_id, sampled);
}

}  // namespace
}  // namespace lpu::golden::testing
