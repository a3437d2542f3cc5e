// lpu_vector_issue against docs/isa.md's formulas, every output in every cycle: every kind, alone and mixed, without
// gaps, at all the places where a count wraps; instructions inside others; reset in the middle. At the size of `tiny`,
// of an ECP5 board, of three and six groups (parts of 1, 2, 3 and 6), and where an instruction takes one cycle.
#include <gtest/gtest.h>

#include "Vvector_issue_32x6.h"
#include "Vvector_issue_4x2.h"
#include "Vvector_issue_8x1.h"
#include "Vvector_issue_8x3.h"
#include "tests/cosim/vector_issue/issue_bench.hpp"
#include "tests/cosim/vector_issue/issue_scripts.hpp"

namespace lpu {
namespace cosim {
namespace {

template <typename ModuleType, int Lanes, int Groups, int VectorLanes, int Entries>
struct Size {
  using Module = ModuleType;
  static Machine machine() { return Machine{Lanes, Groups, VectorLanes, Entries}; }
};

/// The fixed seed, then a fresh one that a failure prints.
template <typename SizeType>
class VectorIssue : public ::testing::Test {
 protected:
  using Bench = IssueBench<typename SizeType::Module>;
  const Machine machine_ = SizeType::machine();

  /// test(scripts) for each seed.
  template <typename Test>
  void for_seeds(Test test) {
    for (const std::uint64_t seed : {kFixedSeed, fresh_seed()}) {
      SCOPED_TRACE("OPENLPU_SEED=" + std::to_string(seed));
      Scripts scripts(machine_, seed);
      test(scripts);
      if (this->HasFailure()) return;
    }
  }
  void compare(const Script& script) {
    Bench bench(machine_);
    bench.run(script, Model(machine_, script).expected());
  }
  /// An instruction alone, of a token whose other fields are random.
  Script alone(const Step& step, std::uint64_t position) const {
    Script script;
    script.tokens.push_back(Token{0, position});
    script.steps.push_back(step);
    script.steps[0].issue = 2 * kLead;
    Scripts::finish(next_issue(machine_, script.steps[0]), &script);
    return script;
  }
};

using Sizes = ::testing::Types<Size<Vvector_issue_4x2, 4, 2, 2, 100>, Size<Vvector_issue_32x6, 32, 6, 8, 11>,
                               Size<Vvector_issue_8x1, 8, 1, 2, 64>, Size<Vvector_issue_8x3, 8, 3, 8, 70>>;
TYPED_TEST_SUITE(VectorIssue, Sizes);

TYPED_TEST(VectorIssue, EachKindAloneEntersByTheFormulas) {
  this->for_seeds([this](Scripts& scripts) {
    for (const Opcode opcode : kVectorOpcodes) {
      SCOPED_TRACE("opcode " + std::to_string(static_cast<unsigned>(opcode)));
      for (std::uint32_t bias = 0; bias < 2; ++bias) {
        scripts.has_bias = bias;
        Script script;
        Cycle start = 0;
        for (int token = 0; token < 4; ++token)
          start = scripts.token(
              start + kLead, scripts.position(), 10, [&](int) { return opcode; }, &script);
        this->compare(script);
      }
    }
  });
}

TYPED_TEST(VectorIssue, KindsMixedWithoutGapsEnterByTheFormulas) {
  this->for_seeds([this](Scripts& scripts) {
    for (std::uint32_t bias = 0; bias < 2; ++bias) {
      scripts.has_bias = bias;
      Script script;
      Cycle start = 0;
      for (int token = 0; token < 20; ++token)
        start = scripts.token(
            start + kLead, scripts.position(), 12,
            [&](int i) { return i == 0 ? Opcode::kEmbed : kVectorOpcodes[scripts.random().between(0, 7)]; }, &script);
      this->compare(script);
    }
  });
}

// Instructions as short as can be, each in the first cycle that the one before leaves: decode, walk and places hold
// several at once.
TYPED_TEST(VectorIssue, ShortestInstructionsWithoutGapsLoseNothing) {
  this->for_seeds([this](Scripts& scripts) {
    Script script;
    script.tokens.push_back(Token{0, scripts.position()});
    Cycle issue = kLead;
    for (int i = 0; i < 400; ++i) {
      Step next = scripts.step(kVectorOpcodes[scripts.random().between(1, 7)]);
      contract::VectorFields& f = next.fields;
      f.slice_cycles = 1;
      f.pitch_cycles = static_cast<std::uint32_t>(this->machine_.slices());
      if (next.opcode == Opcode::kResidual || next.opcode == Opcode::kSwiglu || next.opcode == Opcode::kLogits) {
        f.row_groups = 1;
        f.rows = std::min<std::uint32_t>(f.rows, static_cast<std::uint32_t>(this->machine_.lanes));
      } else if (next.opcode == Opcode::kQuery || next.opcode == Opcode::kKey) {
        f.rows = 32;
        f.row_groups = static_cast<std::uint32_t>((32 + this->machine_.lanes - 1) / this->machine_.lanes);
      }
      next.issue = issue;
      script.steps.push_back(next);
      issue = next_issue(this->machine_, next);
    }
    Scripts::finish(issue, &script);
    this->compare(script);
  });
}

// Every head size with every number of segments: first rows at and beside each border, small and as large as can be.
TYPED_TEST(VectorIssue, FirstRowsAtBordersOfHeadsAndSegmentsFindTheirPlaces) {
  this->for_seeds([this](Scripts& scripts) {
    for (const Opcode opcode : {Opcode::kQuery, Opcode::kKey, Opcode::kValue})
      for (std::uint32_t head_blocks = 1; head_blocks <= 8; ++head_blocks)
        for (const std::uint64_t segments : scripts.segments()) {
          Script script;
          script.tokens.push_back(Token{0, scripts.position()});
          Cycle issue = kLead;
          const std::uint64_t round = head_blocks * segments, last = (1u << 15) - 1 - head_blocks;
          for (const std::uint64_t border : {std::uint64_t{0}, round, 2 * round, 7 * round, last / round * round,
                                             last / 2 / round * round, std::uint64_t{head_blocks} * 3})
            for (const std::uint64_t block : {border, border + 1, border + head_blocks, border - 1}) {
              if (block > last || (opcode == Opcode::kValue && block % head_blocks != 0)) continue;
              Step next = scripts.step(opcode);
              contract::VectorFields& f = next.fields;
              f.head_blocks = head_blocks;
              f.segments = static_cast<std::uint32_t>(segments);
              f.first_row = static_cast<std::uint32_t>(32 * block);
              f.rows = 32 * head_blocks;
              f.row_groups = static_cast<std::uint32_t>((f.rows + this->machine_.lanes - 1) / this->machine_.lanes);
              next.issue = issue;
              script.steps.push_back(next);
              issue = next_issue(this->machine_, next);
            }
          Scripts::finish(issue, &script);
          this->compare(script);
          ASSERT_FALSE(this->HasFailure()) << head_blocks << " blocks, " << segments << " segments";
        }
  });
}

TYPED_TEST(VectorIssue, PositionsAtBordersFindTheirWords) {
  Scripts scripts(this->machine_, kFixedSeed);
  for (const std::uint64_t position :
       {std::uint64_t{0}, std::uint64_t{1}, this->machine_.lanes - 1, this->machine_.lanes, std::uint64_t{31},
        std::uint64_t{32}, std::uint64_t{33}, 32 * this->machine_.groups - 1, 32 * this->machine_.groups,
        std::uint64_t{2047}, kLastPosition - 1, kLastPosition})
    for (const std::uint64_t segments : scripts.segments())
      for (const Opcode opcode : {Opcode::kQuery, Opcode::kKey, Opcode::kValue}) {
        Step step = scripts.step(opcode);
        step.fields.segments = static_cast<std::uint32_t>(segments);
        this->compare(this->alone(step, position));
        ASSERT_FALSE(this->HasFailure()) << "position " << position << ", " << segments << " segments";
      }
}

TYPED_TEST(VectorIssue, AccumulatorsWrapAtTheLastEntry) {
  Scripts scripts(this->machine_, kFixedSeed);
  for (const Opcode opcode : {Opcode::kResidual, Opcode::kMix, Opcode::kLogits})
    for (std::uint32_t back = 1; back <= 4; ++back) {
      Step step = scripts.step(opcode);
      step.fields.accumulator = static_cast<std::uint32_t>(this->machine_.accumulator_entries) - back;
      this->compare(this->alone(step, 0));
      ASSERT_FALSE(this->HasFailure()) << back << " before the end";
    }
}

TYPED_TEST(VectorIssue, FirstLogitsOfEachTokenStartAndEveryInstructionEnds) {
  Scripts scripts(this->machine_, kFixedSeed);
  Script script;
  Cycle start = 0;
  for (int token = 0; token < 5; ++token)
    start = scripts.token(
        start, scripts.position(), 4, [&](int i) { return i == 0 ? Opcode::kResidual : Opcode::kLogits; }, &script);
  this->compare(script);
}

// In the cycle after the issue, half-way, and in the last cycle: with pitches longer than their slices, and row groups
// without rows.
TYPED_TEST(VectorIssue, AnInstructionInsideAnotherIsAnError) {
  Scripts scripts(this->machine_, kFixedSeed);
  for (const Opcode opcode : kVectorOpcodes)
    for (int place = 0; place < 3; ++place) {
      Step first = scripts.step(opcode);
      first.fields.row_groups = std::max(first.fields.row_groups, 2u);
      first.fields.pitch_cycles += 5;
      Script script = this->alone(first, 0);
      const Cycle issue = script.steps[0].issue, next = next_issue(this->machine_, script.steps[0]);
      const Expected expected = Model(this->machine_, script).expected();
      Step second = scripts.step(Opcode::kLogits);
      second.issue = place == 0 ? issue + 1 : place == 1 ? (issue + next) / 2 : next - 1;
      script.steps.push_back(second);
      script.end = second.issue - kExponentLead;
      IssueBench<typename TypeParam::Module> bench(this->machine_);
      bench.run(script, expected);
      EXPECT_TRUE(bench.error()) << "opcode " << static_cast<unsigned>(opcode) << ", place " << place;
      ASSERT_FALSE(this->HasFailure());
    }
}

TYPED_TEST(VectorIssue, AResetInTheMiddleEndsEverything) {
  this->for_seeds([this](Scripts& scripts) {
    for (int time = 0; time < 20; ++time) {
      Script script;
      scripts.token(
          kLead, scripts.position(), 6, [&](int) { return kVectorOpcodes[scripts.random().between(0, 7)]; }, &script);
      const Expected expected = Model(this->machine_, script).expected();
      IssueBench<typename TypeParam::Module> bench(this->machine_);
      bench.run_and_reset(script, expected,
                          static_cast<Cycle>(scripts.random().between(0, static_cast<int>(script.end))));
      bench.run(script, expected);
      ASSERT_FALSE(this->HasFailure());
    }
  });
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
