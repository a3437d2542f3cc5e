// The receive unit alone, fed with the wire format's beats: its cycles, its checks, and each error by its name with
// what was expected and what came.
#include <functional>

#include "tests/cosim/link/link_bench.hpp"

namespace lpu {
namespace cosim {
namespace {

template <typename Size>
class LinkReceive : public ::testing::Test {
 protected:
  static constexpr int kBits = Size::kStreamBits;

  void feed(const std::vector<Beat>& beats) {
    for (const Beat& beat : beats) {
      unit_.beat(beat);
      unit_.step();
    }
  }
  void expect_error(LinkError error, int expected, int got) {
    EXPECT_EQ(unit_.error(), error);
    EXPECT_EQ(unit_.expected(), expected);
    EXPECT_EQ(unit_.got(), got);
  }
  /// After an error nothing is given any more, and the error stays.
  void expect_stopped(const Vector& next, int number) {
    const LinkError error = unit_.error();
    ASSERT_NE(error, LinkError::kNone);
    unit_.expect(next);
    for (const Beat& beat : encode(next, number, kBits)) {
      unit_.beat(beat);
      unit_.take();
      unit_.step();
      EXPECT_FALSE(unit_.ready() || unit_.checked());
    }
    for (int cycle = 0; cycle < 30; ++cycle) {
      unit_.step();
      EXPECT_FALSE(unit_.ready() || unit_.block() || unit_.checked());
    }
    EXPECT_EQ(unit_.error(), error);
  }

  Random random_{kFixedSeed};
  ReceiveBench<Size> unit_;
};
TYPED_TEST_SUITE(LinkReceive, LinkSizes, LinkSizeNames);

TYPED_TEST(LinkReceive, AnchorBlocksAndCheckComeInTheirCycles) {
  const Vector vector = random_vector(this->random_, 6);
  const std::vector<Beat> beats = encode(vector, 0, TypeParam::kStreamBits);
  auto& unit = this->unit_;
  unit.expect(vector);
  const int start = unit.cycle();
  const auto last_beat = [&](int block) {
    return start + TypeParam::kHeaderBeats + (block + 1) * TypeParam::kBlockBeats - 1;
  };
  const int anchor = last_beat(0) + contract::kLinkReceiveCycles + kMarginCycles;
  // The last block is taken in the first cycle in which it can be, if the margin allows.
  const int end = std::max(last_beat(5) + contract::kLinkReceiveCycles, anchor + 5);
  const int trailer = last_beat(5) + 1;
  int block = 0;
  for (int cycle = start; cycle < std::max(end, trailer) + 10; ++cycle) {
    if (cycle - start < static_cast<int>(beats.size())) unit.beat(beats[static_cast<std::size_t>(cycle - start)]);
    EXPECT_EQ(unit.ready(), cycle >= anchor && cycle <= end) << cycle - start;
    const bool takes = cycle >= anchor && cycle >= last_beat(block) + contract::kLinkReceiveCycles && block < 6 &&
                       (block < 5 ? cycle < end : cycle == end);
    if (takes) unit.take();
    EXPECT_EQ(unit.checked().has_value(), cycle == trailer + contract::kLinkCheckCycles) << cycle - start;
    unit.step();
    ASSERT_EQ(unit.block().has_value(), takes);
    if (takes) {
      EXPECT_TRUE(*unit.block() == vector.blocks[static_cast<std::size_t>(block)]);
      ++block;
    }
  }
  EXPECT_EQ(block, 6);
  EXPECT_EQ(unit.error(), LinkError::kNone);
}

TYPED_TEST(LinkReceive, BlockTakenACycleBeforeItIsThereIsLate) {
  const Vector vector = random_vector(this->random_, 2);
  const std::vector<Beat> beats = encode(vector, 0, TypeParam::kStreamBits);
  const std::size_t second = static_cast<std::size_t>(TypeParam::kHeaderBeats + TypeParam::kBlockBeats);
  for (const bool early : {false, true}) {
    SCOPED_TRACE(early);
    auto& unit = this->unit_;
    unit.reset();
    unit.expect(vector);
    this->feed({beats.begin(), beats.begin() + static_cast<std::ptrdiff_t>(second)});
    unit.idle(contract::kLinkReceiveCycles + kMarginCycles - 1);
    ASSERT_TRUE(unit.ready());
    unit.take();
    this->feed({beats.begin() + static_cast<std::ptrdiff_t>(second), beats.end() - 1});
    // The last beat came in the cycle before this one.
    unit.idle(contract::kLinkReceiveCycles - (early ? 2 : 1));
    unit.take();
    unit.step();
    EXPECT_EQ(unit.block().has_value(), !early);
    if (early) {
      this->expect_error(LinkError::kLate, 0, 1);
      this->expect_stopped(vector, 1);
    } else {
      EXPECT_EQ(unit.error(), LinkError::kNone);
    }
  }
}

TYPED_TEST(LinkReceive, TakeBeforeTheAnchorIsLate) {
  const Vector vector = random_vector(this->random_, 1);
  this->unit_.expect(vector);
  this->feed(encode(vector, 0, TypeParam::kStreamBits));
  ASSERT_FALSE(this->unit_.ready());
  this->unit_.take();
  this->unit_.step();
  this->expect_error(LinkError::kLate, 0, 1);
}

TYPED_TEST(LinkReceive, VectorAfterItsDeadlineIsLateAndInItIsnt) {
  const Vector vector = random_vector(this->random_, 1);
  const std::vector<Beat> beats = encode(vector, 0, TypeParam::kStreamBits);
  const int anchor = static_cast<int>(beats.size()) - 2 + contract::kLinkReceiveCycles + kMarginCycles;
  for (const int deadline : {anchor, anchor - 1}) {
    SCOPED_TRACE(deadline);
    auto& unit = this->unit_;
    unit.reset();
    unit.expect(vector, deadline);
    this->feed(beats);
    unit.idle(anchor - 1 - static_cast<int>(beats.size()));
    EXPECT_EQ(unit.error(), LinkError::kNone);
    unit.step();
    EXPECT_EQ(unit.ready(), deadline == anchor);
    if (deadline == anchor) {
      unit.idle(100);
      EXPECT_EQ(unit.error(), LinkError::kNone);
    } else {
      this->expect_error(LinkError::kLate, 0, 1);
      this->expect_stopped(vector, 1);
    }
  }
}

TYPED_TEST(LinkReceive, VectorThatNeverComesIsLateAtItsDeadline) {
  this->unit_.expect(3, 5, 100);
  this->unit_.idle(100);
  EXPECT_EQ(this->unit_.error(), LinkError::kNone);
  this->unit_.step();
  this->expect_error(LinkError::kLate, 0, 5);
}

TYPED_TEST(LinkReceive, CheckThatDoesntComeIsLate) {
  const Vector vector = random_vector(this->random_, 1);
  std::vector<Beat> beats = encode(vector, 0, TypeParam::kStreamBits);
  beats.pop_back();
  this->unit_.expect(vector);
  this->feed(beats);
  this->unit_.idle(contract::kLinkReceiveCycles + kMarginCycles - 1);
  this->unit_.take();
  this->unit_.idle(kTrailerCycles + 1);
  EXPECT_EQ(this->unit_.error(), LinkError::kNone);
  this->unit_.step();
  this->expect_error(LinkError::kLate, 1, 0);
}

TYPED_TEST(LinkReceive, AnyFlippedBitIsCorruptAndTheVectorNeverChecked) {
  const Vector vector = random_vector(this->random_, 2);
  const std::vector<Beat> right = encode(vector, 0, TypeParam::kStreamBits);
  for (std::size_t beat = 0; beat < right.size(); ++beat)
    for (int bit = 0; bit < TypeParam::kStreamBits; bit += beat == 0 || beat + 1 == right.size() ? 1 : 7) {
      SCOPED_TRACE(std::to_string(beat) + ", " + std::to_string(bit));
      std::vector<Beat> beats = right;
      beats[beat].words[static_cast<std::size_t>(bit / 32)] ^= 1u << bit % 32;
      this->unit_.reset();
      bool checked = false;
      for (const Beat& each : beats) {
        this->unit_.beat(each);
        this->unit_.step();
        checked = checked || this->unit_.checked();
      }
      for (int cycle = 0; cycle < 6; ++cycle) {
        this->unit_.step();
        checked = checked || this->unit_.checked();
      }
      ASSERT_FALSE(checked);
      this->expect_error(LinkError::kCorrupt, 0, 0);
    }
}

TYPED_TEST(LinkReceive, AnotherNumberIsSequence) {
  Random& random = this->random_;
  for (const int got : {1, 2, 65535}) {
    SCOPED_TRACE(got);
    this->unit_.reset();
    this->feed(encode(random_vector(random, 1), got, TypeParam::kStreamBits));
    this->expect_error(LinkError::kSequence, 0, got);
    this->expect_stopped(random_vector(random, 1), 0);
  }
  this->unit_.reset();  // lost, then repeated
  this->feed(encode(random_vector(random, 1), 0, TypeParam::kStreamBits));
  this->feed(encode(random_vector(random, 1), 0, TypeParam::kStreamBits));
  this->expect_error(LinkError::kSequence, 1, 0);
}

TYPED_TEST(LinkReceive, BeatsInWrongPlacesAreFormat) {
  const Vector vector = random_vector(this->random_, 2);
  const std::vector<Beat> right = encode(vector, 0, TypeParam::kStreamBits);
  const auto at = [](int place) { return static_cast<std::ptrdiff_t>(place); };
  const int data = TypeParam::kHeaderBeats, last = static_cast<int>(right.size()) - 1;
  const struct {
    const char* what;
    std::function<void(std::vector<Beat>&)> spoil;
    int expected, got;
  } cases[] = {
      {"no header", [&](auto& beats) { beats.erase(beats.begin(), beats.begin() + at(data)); }, contract::kLinkMagic,
       static_cast<int>(vector.blocks[0][0] & 0xffff)},
      {"a data beat less", [&](auto& beats) { beats.erase(beats.begin() + at(data)); }, 0, 1},
      {"a data beat twice",
       [&](auto& beats) { beats.insert(beats.begin() + at(data), beats[static_cast<std::size_t>(data)]); }, 1, 0},
      {"tlast at the header", [&](auto& beats) { beats[0].last = true; }, 0, 1},
      {"tlast in the data", [&](auto& beats) { beats[static_cast<std::size_t>(last - 1)].last = true; }, 0, 1},
      {"no tlast", [&](auto& beats) { beats[static_cast<std::size_t>(last)].last = false; }, 1, 0},
      {"cut off",
       [&](auto& beats) {
         beats.resize(static_cast<std::size_t>(data + 2));
         beats.back().last = true;
       },
       0, 1}};
  for (const auto& test : cases) {
    SCOPED_TRACE(test.what);
    std::vector<Beat> beats = right;
    test.spoil(beats);
    this->unit_.reset();
    this->feed(beats);
    this->unit_.idle(5);
    this->expect_error(LinkError::kFormat, test.expected, test.got);
    this->expect_stopped(vector, 0);
  }
}

TYPED_TEST(LinkReceive, LengthThatNoVectorHasIsFormat) {
  for (const int blocks : {0, contract::kMaxLinkBlocks + 1}) {
    Vector vector;
    vector.kind = 7;
    vector.blocks.resize(static_cast<std::size_t>(blocks));
    this->unit_.reset();
    this->feed(encode(vector, 0, TypeParam::kStreamBits));
    this->expect_error(LinkError::kFormat, contract::kMaxLinkBlocks, 7 << 12 | blocks);
  }
}

TYPED_TEST(LinkReceive, VectorThatIsntTheExpectedOneIsFormat) {
  const Vector vector = random_vector(this->random_, 3);
  const int kind = vector.kind, head = kind << 12 | 3;
  for (const auto& [expected_kind, expected_blocks] :
       {std::pair{(kind + 1) % 16, 3}, std::pair{kind, 2}, std::pair{kind, 4}})
    for (const bool expects_first : {true, false}) {
      SCOPED_TRACE(expected_blocks);
      this->unit_.reset();
      if (expects_first) this->unit_.expect(expected_kind, expected_blocks, 1000);
      this->feed(encode(vector, 0, TypeParam::kStreamBits));
      this->unit_.idle(kMarginCycles);
      EXPECT_EQ(this->unit_.error(), expects_first ? LinkError::kFormat : LinkError::kNone);
      if (!expects_first) this->unit_.expect(expected_kind, expected_blocks, 1000);
      this->unit_.step();
      EXPECT_FALSE(this->unit_.ready());
      this->unit_.step();
      this->expect_error(LinkError::kFormat, expected_kind << 12 | expected_blocks, head);
      this->expect_stopped(vector, 1);
    }
}

TYPED_TEST(LinkReceive, ExpectationInsideAnotherIsFormat) {
  const Vector vector = random_vector(this->random_, 2);
  this->unit_.expect(vector);
  this->feed(encode(vector, 0, TypeParam::kStreamBits));
  this->unit_.expect(vector);
  this->unit_.step();
  this->expect_error(LinkError::kFormat, vector.kind << 12 | 2, vector.kind << 12 | 2);
}

TYPED_TEST(LinkReceive, FullDeskewQueueIsOverflowAndSpoilsNoBlock) {
  const Vector vector = random_vector(this->random_, kQueuedBlocks + 2);
  const std::vector<Beat> beats = encode(vector, 0, TypeParam::kStreamBits);
  const auto full = beats.begin() + TypeParam::kHeaderBeats + kQueuedBlocks * TypeParam::kBlockBeats;
  for (const bool takes : {false, true}) {
    SCOPED_TRACE(takes);
    this->unit_.reset();
    this->unit_.expect(vector);
    this->feed({beats.begin(), full});
    this->unit_.idle(contract::kLinkReceiveCycles + kMarginCycles);
    EXPECT_EQ(this->unit_.error(), LinkError::kNone);
    if (takes) {  // makes room for one more
      this->unit_.take();
      this->unit_.step();
      EXPECT_TRUE(this->unit_.block() == vector.blocks[0]);
      this->feed({full, full + TypeParam::kBlockBeats});
      this->unit_.step();
      EXPECT_EQ(this->unit_.error(), LinkError::kNone);
    }
    this->unit_.beat(*(full + (takes ? TypeParam::kBlockBeats : 0)));
    this->unit_.step();
    this->unit_.take();  // the oldest, in the cycle in which the new beat would be written over it
    this->unit_.step();
    EXPECT_TRUE(this->unit_.block() == vector.blocks[takes ? 1 : 0]);
    EXPECT_EQ(this->unit_.error(), LinkError::kOverflow);
    this->expect_stopped(vector, 1);
  }
}

TYPED_TEST(LinkReceive, MoreVectorsThanHaveRoomForTheirHeadersIsOverflow) {
  for (int i = 0; i <= kQueuedVectors; ++i) {
    EXPECT_EQ(this->unit_.error(), LinkError::kNone);
    this->feed(encode(random_vector(this->random_, 1), i, TypeParam::kStreamBits));
  }
  EXPECT_EQ(this->unit_.error(), LinkError::kOverflow);
}

TEST(LinkNumbers, GoOnFromTheLastToZero) {
  using Size = LinkSize<Vlink_send_256, Vlink_receive_256, 256>;
  Random random(kFixedSeed);
  const Vector vector = random_vector(random, 1);
  ReceiveBench<Size> unit;
  std::size_t checked = 0;
  for (int number = 0; number < contract::kLinkSequences + 2; ++number) {
    if (number == 0) unit.expect(vector);
    for (const Beat& beat : encode(vector, number, Size::kStreamBits)) {
      unit.beat(beat);
      if (unit.ready()) {
        unit.take();
        unit.expect(vector);
      }
      if (const auto which = unit.checked()) {
        ASSERT_EQ(*which, static_cast<int>(checked++ % contract::kLinkSequences));
      }
      unit.step();
    }
    ASSERT_EQ(unit.error(), LinkError::kNone) << number;
  }
  EXPECT_GE(checked, static_cast<std::size_t>(contract::kLinkSequences));
}

}  // namespace
}  // namespace cosim
}  // namespace lpu
