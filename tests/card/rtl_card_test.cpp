// The rtl card beside the golden one: tokens, logits, cycles and everything a host gets are equal; sessions, resets and
// loading through the port change nothing; what can't run is refused in a sentence.
#include <sys/stat.h>

#include "host/card/rtl_driver.hpp"
#include "tests/card/rtl_fixture.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;

struct Session {
  std::vector<std::int32_t> next;
  std::vector<std::uint64_t> cycles, beats;
  std::vector<std::vector<float>> logits;
  std::vector<std::array<std::uint64_t, contract::kLogSumBuckets>> log_sums;
  std::vector<std::vector<std::pair<std::int32_t, float>>> best;
  bool operator==(const Session&) const = default;
};

/// Two prompt tokens, then what the card makes of them.
Session run(card::Card& card, std::uint32_t tokens, float temperature = 0, std::uint64_t seed = 1) {
  Session session;
  std::int32_t token = 5;
  for (std::uint32_t i = 0; i < tokens; ++i) {
    std::vector<float> logits;
    card::TokenRequest request;
    request.token = token;
    request.position = i;
    request.want_next = i != 0;
    request.temperature = temperature;
    request.seed = seed;
    request.logits = &logits;
    const card::TokenResult result = card.step(request);
    session.next.push_back(result.next);
    session.cycles.push_back(result.cycles);
    session.beats.push_back(result.busy_beats);
    session.logits.push_back(logits);
    session.log_sums.push_back(result.log_sum);
    session.best.emplace_back();
    for (const card::Candidate& candidate : result.best)
      session.best.back().emplace_back(candidate.id, candidate.logit);
    token = request.want_next ? result.next : 9;
  }
  return session;
}

using RtlCard = RtlTest;

TEST_F(RtlCard, TokensLogitsAndCyclesEqualTheGoldenCards) {
  const auto golden = card::open_card("golden", bundle_, {1});
  const auto rtl = card::open_card("rtl", bundle_, {});
  EXPECT_EQ(rtl->name(), "rtl");
  const Session expected = run(*golden, 36), got = run(*rtl, 36);  // past a block's end
  EXPECT_EQ(got.next, expected.next);
  EXPECT_EQ(got.cycles, expected.cycles);
  EXPECT_TRUE(got == expected);
}

TEST_F(RtlCard, SampledTokensEqualTheGoldenCards) {
  const auto golden = card::open_card("golden", bundle_, {1});
  const auto rtl = card::open_card("rtl", bundle_, {});
  const Session expected = run(*golden, 6, 0.8F, 0x123456789ABCDEFULL);
  EXPECT_NE(expected.next, run(*card::open_card("golden", bundle_, {1}), 6).next) << "the seed chooses nothing";
  EXPECT_TRUE(run(*rtl, 6, 0.8F, 0x123456789ABCDEFULL) == expected);
}

TEST_F(RtlCard, EveryStepTakesThePredictedCycles) {
  const auto rtl = card::open_card("rtl", bundle_, {});
  const Session session = run(*rtl, 34);
  for (std::size_t i = 0; i < session.cycles.size(); ++i) {
    const auto& lengths = i != 0 ? bundle_.program().cycles_with_head : bundle_.program().cycles_without_head;
    EXPECT_EQ(session.cycles[i], lengths[i / 32]) << i;
  }
}

TEST_F(RtlCard, ResetForgetsTheSession) {
  const auto rtl = card::open_card("rtl", bundle_, {});
  const Session first = run(*rtl, 5);
  rtl->reset();
  EXPECT_TRUE(run(*rtl, 5) == first);
}

/// Wherever in the token the reset comes: nothing of it may reach the next session.
TEST_F(RtlCard, ResetInTheMiddleOfATokenLeavesNothingBehind) {
  const auto golden = card::open_card("golden", bundle_, {1});
  card::TokenRequest first, second;
  first.token = 5;
  first.want_next = false;
  second.token = 9;
  second.position = 1;
  golden->step(first);
  const card::TokenResult expected = golden->step(second);
  card::RtlDriver driver(bundle_, {});
  for (const std::uint64_t cycles : {5U, 90U, 333U, 700U, 1100U}) {
    card::TokenRequest lost;
    lost.token = 77;
    driver.start(lost, 3);
    driver.run(cycles);
    driver.reset();
    card::RtlResult result;
    driver.start(first);
    ASSERT_TRUE(driver.wait(20000, &result));
    EXPECT_EQ(result.cycles, bundle_.program().cycles_without_head[0]);
    driver.start(second);
    ASSERT_TRUE(driver.wait(20000, &result));
    EXPECT_EQ(result.next, expected.next) << "reset after " << cycles;
    EXPECT_EQ(result.cycles, expected.cycles);
    EXPECT_EQ(result.position, 1u);
  }
}

TEST_F(RtlCard, CommandsWaitInTheirQueueAndCountersAddUp) {
  card::RtlDriver driver(bundle_, {});
  card::TokenRequest request;
  std::uint64_t cycles = 0;
  for (std::uint32_t i = 0; i < 5; ++i) {
    request.position = i;
    request.want_next = i == 4;
    driver.start(request);
  }
  for (std::uint32_t i = 0; i < 5; ++i) {
    card::RtlResult result;
    ASSERT_TRUE(driver.wait(20000, &result));
    EXPECT_EQ(result.position, i);
    EXPECT_EQ(result.with_head, i == 4);
    cycles += result.cycles;
  }
  EXPECT_EQ(driver.read(contract::ControlRegister::kTokensLow), 5u);
  EXPECT_EQ(driver.read(contract::ControlRegister::kCyclesLow), cycles);
}

TEST_F(RtlCard, LoadingThroughThePortGivesTheSame) {
  card::CardOptions options;
  options.load_through_port = true;
  const Session expected = run(*card::open_card("rtl", bundle_, {}), 3);
  EXPECT_TRUE(run(*card::open_card("rtl", bundle_, options), 3) == expected);
}

TEST_F(RtlCard, RequestOutOfRangeIsRefusedInASentence) {
  const auto rtl = card::open_card("rtl", bundle_, {});
  card::TokenRequest request;
  request.position = kContextTokens;
  EXPECT_THAT(refusal_of([&] { rtl->step(request); }, ExitCode::kCard), HasSubstr("position 64"));
  request.position = 0;
  request.token = 320;
  EXPECT_THAT(refusal_of([&] { rtl->step(request); }, ExitCode::kCard), HasSubstr("token 320"));
}

TEST_F(RtlCard, ForcedTokenOutOfRangeStopsTheCoreAndAResetStartsItAgain) {
  card::CardOptions options;
  options.unchecked = true;
  const auto rtl = card::open_card("rtl", bundle_, options);
  const Session first = run(*rtl, 2);
  card::TokenRequest request;
  request.token = 320;
  EXPECT_THAT(refusal_of([&] { rtl->step(request); }, ExitCode::kCard), HasSubstr("error 8"));
  rtl->reset();
  EXPECT_TRUE(run(*rtl, 2) == first);
}

TEST_F(RtlCard, ProgramWithAHazardIsRefusedByTheHost) {
  bundle::write(place_.path() / "nonsense", small_contents());
  const bundle::Bundle nonsense = bundle::Bundle::open(place_.path() / "nonsense");
  EXPECT_THAT(refusal_of([&] { card::open_card("rtl", nonsense, {})->step({}); }, ExitCode::kCard),
              HasSubstr("can't run this bundle"));
}

/// The loader itself would die of such a file (SIGBUS).
TEST_F(RtlCard, LibraryCutShortIsASentence) {
  const std::string file = "liblpu_rtl_tiny.so";
  std::filesystem::copy_file(std::filesystem::path(OPENLPU_RTL_FOLDER) / file, place_.path() / file);
  const std::uintmax_t whole = std::filesystem::file_size(place_.path() / file);
  ::setenv("OPENLPU_RTL_PATH", place_.path().c_str(), 1);
  for (const std::uintmax_t bytes : {whole - 1, whole / 2, std::uintmax_t{5000}, std::uintmax_t{100}}) {
    std::filesystem::resize_file(place_.path() / file, bytes);
    EXPECT_THAT(refusal_of([&] { (void)card::open_card("rtl", bundle_, {}); }, ExitCode::kBadInput),
                HasSubstr("scripts/build.sh --target rtl-tiny"))
        << bytes;
  }
}

TEST(RtlLibrary, AbsentOneIsASentenceWithTheCommand) {
  ::setenv("OPENLPU_RTL_PATH", "/nowhere", 1);
  const TemporaryPlace place;
  const bundle::Bundle bundle = compiled("tied_q4_1", place.path() / "b", "kv260");
  EXPECT_THAT(refusal_of([&] { (void)card::open_card("rtl", bundle, {}); }, ExitCode::kIo),
              testing::AllOf(HasSubstr("kv260"), HasSubstr("scripts/build.sh --target rtl-kv260"),
                             HasSubstr("neither in OPENLPU_RTL_PATH (/nowhere)")));
  ::unsetenv("OPENLPU_RTL_PATH");
  EXPECT_THAT(refusal_of([&] { (void)card::open_card("rtl", bundle, {}); }, ExitCode::kIo),
              HasSubstr("OPENLPU_RTL_PATH, which can name other folders, isn't set"));
}

TEST(RtlLibrary, PipeInItsPlaceIsRefusedAndNotWaitedFor) {
  const TemporaryPlace place;
  const bundle::Bundle bundle = compiled("tied_q4_1", place.path() / "b", "kv260");
  ASSERT_EQ(::mkfifo((place.path() / "liblpu_rtl_kv260.so").c_str(), 0600), 0);
  ::setenv("OPENLPU_RTL_PATH", place.path().c_str(), 1);
  EXPECT_THAT(refusal_of([&] { (void)card::open_card("rtl", bundle, {}); }, ExitCode::kBadInput),
              HasSubstr("isn't a file"));
  ::unsetenv("OPENLPU_RTL_PATH");
}

TEST(RtlLibrary, MachineOfItsOwnIsToldThatModelsAreForNamedOnes) {
  const TemporaryPlace place;
  const bundle::Bundle other_array = compiled("tied_q4_1", place.path() / "a", "tiny:8x1");
  write_bytes(place.path() / "m.json",
              R"({"lanes": 4, "column_groups": 2, "clock_mhz": 100, "lane_words": 16384, "has_minimum": true})");
  const bundle::Bundle from_file = compiled("tied_q4_1", place.path() / "f", (place.path() / "m.json").string());
  for (const bundle::Bundle* bundle : {&other_array, &from_file}) {
    const std::string said = refusal_of([&] { (void)card::open_card("rtl", *bundle, {}); }, ExitCode::kBadInput);
    EXPECT_THAT(said, testing::AllOf(HasSubstr("named configurations only"), HasSubstr("tiny, ulx3s"),
                                     testing::Not(HasSubstr("build.sh"))));
  }
}

}  // namespace
}  // namespace lpu::test
