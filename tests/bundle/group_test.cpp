// Groups of bundles: what is written is what is read; and every way in which a group's folder may be wrong is told in a
// sentence that names file and field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "host/base/atomic_file.hpp"
#include "host/base/error.hpp"
#include "host/bundle/checksum.hpp"
#include "host/bundle/layout.hpp"
#include "host/bundle/program_file.hpp"
#include "tests/bundle/small_group.hpp"

namespace lpu::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

class Group : public testing::Test {
 protected:
  void expect_refused(const std::string& part, ExitCode code = ExitCode::kBadInput, const std::string& where = "") {
    try {
      (void)bundle::Bundle::open(folder_);
      ADD_FAILURE() << "accepted: " << where;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << where << ": " << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr(part), HasSubstr("; "))) << where;
    }
  }
  /// The group with one card written otherwise, which its checksums don't tell.
  void expect_refused_with(std::size_t changed, const std::function<void(bundle::Contents&)>& change,
                           const std::string& part) {
    bundle::GroupContents group = small_group();
    group.card = [&](std::size_t card) {
      bundle::Contents contents = small_card(card);
      if (card == changed) change(contents);
      return contents;
    };
    bundle::write_group(folder_, group);
    expect_refused(part, ExitCode::kBadInput, part);
  }
  [[nodiscard]] Json json() const { return Json::parse(read_bytes(folder_ / bundle::kGroupFile)); }
  void write_json(const std::string& text) const {
    write_bytes(folder_ / bundle::kGroupFile, text);
    write_bytes(folder_ / bundle::kGroupChecksumFile, bundle::crc32_text(bundle::crc32_of(bytes_of(text))) + "\n");
  }

  TemporaryPlace place_;
  fs::path folder_ = place_.path() / "g";
};

class BadGroup : public Group {
 protected:
  BadGroup() { bundle::write_group(folder_, small_group()); }
};

TEST_F(Group, WrittenAndOpenedIsTheSame) {
  const bundle::GroupContents in = small_group();
  bundle::write_group(folder_, in);
  std::vector<double> shares;
  const bundle::Bundle out = bundle::Bundle::open(folder_, [&](double share) { shares.push_back(share); });

  EXPECT_EQ(out.folder(), folder_);
  EXPECT_EQ(out.hardware_name(), "3xtiny");
  EXPECT_STREQ(out.hardware().name, "tiny");
  EXPECT_EQ(out.model_name(), "small");
  EXPECT_EQ(out.model_file_bytes(), 12345u);
  EXPECT_EQ(out.report_json(), in.report_json);
  EXPECT_EQ(out.shape().layers, 6u);
  EXPECT_EQ(out.shape().held_ids(), 300u);
  EXPECT_EQ(out.program().instructions.size(), 0u);
  EXPECT_EQ(out.program().length_steps, 2u);
  EXPECT_EQ(out.program().cycles_with_head, in.cycles_with_head);
  EXPECT_FALSE(out.program().is_of_group());
  EXPECT_EQ(out.image().lane_word_count, 0u);
  EXPECT_EQ(out.plan().link_name, "aurora-25g");
  EXPECT_STREQ(out.plan().link.name, "aurora-25g");
  EXPECT_EQ(out.plan().link.megabits_per_s, 100000);
  EXPECT_EQ(out.plan().link.latency_ns, 140);
  EXPECT_EQ(out.plan().link.jitter_ns, 7);
  ASSERT_EQ(out.plan().cards.size(), 3u);
  EXPECT_THAT(out.plan().cards[2].embedding_sends, ElementsAre(42, 43));
  EXPECT_THAT(out.plan().cards[1].layers_send, ElementsAre(191, 196));
  EXPECT_EQ(out.tokenizer_file(), folder_ / "card0" / "tokenizer.gguf");

  ASSERT_EQ(out.cards().size(), 3u);
  std::uint64_t image_bytes = 0, resident_bytes = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const bundle::Bundle& card = out.cards()[i];
    EXPECT_EQ(bundle::program_bytes(card.program()), bundle::program_bytes(small_group_program()));
    EXPECT_THAT(card.program().cycles_of(contract::Phase::kLayers), ElementsAre(200, 209));
    EXPECT_THAT(card.program().cycles_of(contract::Phase::kToken), ElementsAre());
    EXPECT_EQ(card.shape().first_id, 128 * i);
    EXPECT_EQ(card.shape().ids, i < 2 ? 128u : 44u);
    image_bytes += card.image_bytes();
    resident_bytes += card.resident_bytes();
  }
  EXPECT_EQ(out.image_bytes(), image_bytes);
  EXPECT_EQ(out.resident_bytes(), resident_bytes);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1.0);
}

TEST_F(Group, CardAloneHasNoCards) {
  bundle::write(folder_, small_contents());
  EXPECT_EQ(bundle::Bundle::open(folder_).cards().size(), 0u);
}

TEST_F(Group, GroupAndBundleReplaceEachOther) {
  bundle::write_group(folder_, small_group());
  bundle::write_group(folder_, small_group());
  EXPECT_EQ(bundle::Bundle::open(folder_).cards().size(), 3u);
  bundle::write(folder_, small_contents());
  EXPECT_EQ(bundle::Bundle::open(folder_).cards().size(), 0u);
  bundle::write_group(folder_, small_group());
  EXPECT_EQ(bundle::Bundle::open(folder_).cards().size(), 3u);
  EXPECT_EQ(place_.entries(), 1u);
}

TEST_F(Group, FolderWithOtherThingsIsLeftAlone) {
  for (const char* name : {"thesis.txt", "card0/thesis.txt", "card3", "other/manifest.json", "card/manifest.json"}) {
    fs::remove_all(folder_);
    bundle::write_group(folder_, small_group());
    fs::create_directories((folder_ / name).parent_path());
    write_bytes(folder_ / name, "years of work");
    EXPECT_THROW(bundle::write_group(folder_, small_group()), Error) << name;
    EXPECT_EQ(read_bytes(folder_ / name), "years of work") << name;
    EXPECT_EQ(place_.entries(), 1u);
  }
}

TEST_F(Group, CardThatCannotBeMadeLeavesTheOldGroup) {
  bundle::write_group(folder_, small_group());
  bundle::GroupContents second = small_group();
  second.model_name = "second";
  second.card = [](std::size_t card) {
    if (card == 2) fail(ExitCode::kDoesNotFit, "too large");
    return small_card(card);
  };
  EXPECT_THROW(bundle::write_group(folder_, second), Error);
  EXPECT_EQ(bundle::Bundle::open(folder_).model_name(), "small");
  EXPECT_EQ(place_.entries(), 1u);
}

TEST_F(BadGroup, OneBitAlteredAnywhereIsFound) {
  for (const char* name : {"group.json", "group.crc32", "card1/manifest.json", "card2/program.bin"}) {
    const std::string good = read_bytes(folder_ / name);
    const std::size_t step = std::max<std::size_t>(good.size() / 100, 1);
    for (std::size_t at = 0; at < good.size(); at += step) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << (at / step % 8)));
      write_bytes(folder_ / name, bad);
      expect_refused(name == std::string("group.crc32") ? "group.json" : name, ExitCode::kBadInput, name);
    }
    write_bytes(folder_ / name, good);
  }
  EXPECT_NO_THROW(bundle::Bundle::open(folder_));
}

TEST_F(BadGroup, MissingFileIsNamed) {
  for (const char* name : {"group.json", "group.crc32", "card1/manifest.json", "card1/manifest.crc32"}) {
    const std::string good = read_bytes(folder_ / name);
    fs::remove(folder_ / name);
    expect_refused(std::string(name) + ": is missing");
    write_bytes(folder_ / name, good);
  }
}

TEST_F(BadGroup, MissingCardIsNamed) {
  fs::remove_all(folder_ / "card1");
  expect_refused("card1: card 1 of 3 is missing");
}

TEST_F(BadGroup, CardsInTheWrongOrderAreToldWhereTheyBelong) {
  fs::rename(folder_ / "card1", folder_ / "x");
  fs::rename(folder_ / "card2", folder_ / "card1");
  fs::rename(folder_ / "x", folder_ / "card2");
  expect_refused("card1: holds the bundle that belongs into card2");
}

TEST_F(BadGroup, CardOfAnotherPlanIsNamed) {
  bundle::Contents other = small_card(2);
  other.constants[0] = 3;
  bundle::write(folder_ / "card2", other);
  expect_refused("card2: its manifest has the checksum");
}

TEST_F(BadGroup, OtherContractIsStale) {
  Json bad = json();
  bad["contract"] = "0123456789abcdef";
  write_json(bad.dump());
  expect_refused("made for contract 0123456789abcdef, but this build has " + contract::contract_hash_text() +
                     "; compile the model again: lpu compile MODEL --hardware 3xtiny",
                 ExitCode::kCard);
}

TEST_F(BadGroup, FieldOutOfRangeIsNamed) {
  struct Case {
    const char* pointer;
    Json value;
    const char* named;
  };
  const std::vector<Case> cases = {
      {"/format", "openlpu-bundle", "'format'"},
      {"/format_version", 1, "'format_version' is 1"},
      {"/contract", 5, "'contract'"},
      {"/hardware_name", 1, "'hardware_name'"},
      {"/model_file_bytes", -1, "'model_file_bytes'"},
      {"/shape/layers", 0, "'shape.layers'"},
      {"/shape/layers", 7, "'shape.layers' is 7, but the cards have 6 together"},
      {"/shape/ids", 5, "'shape.ids' leaves out"},
      {"/shape/width", 96, "card0/manifest.json: field 'shape.width'"},
      {"/shape/norm_epsilon", 1e-6, "card0/manifest.json: field 'shape.norm_epsilon'"},
      {"/link", 3, "'link.'"},
      {"/link/name", 3, "'link.name'"},
      {"/link/megabits_per_s", 0, "'link.' doesn't describe a link: megabits_per_s"},
      {"/link/latency_ns", 1000001, "latency_ns must be"},
      {"/link/jitter_ns", std::numeric_limits<std::uint64_t>::max(), "'link.jitter_ns'"},
      {"/cards", "three", "'cards' isn't a list"},
      {"/cards", Json::array(), "'cards' has 0 entries, but must have 2 to 64"},
      {"/cards/1", 5, "'cards[1].' isn't an object"},
      {"/cards/1/folder", "../card1", "'cards[1].folder' isn't \"card1\""},
      {"/cards/2/manifest_crc32", "00", "'cards[2].manifest_crc32'"},
      {"/cards/0/embedding_sends", {1, 2, 3}, "'cards[0].embedding_sends' has 3 entries, but must have 2"},
      {"/cards/0/embedding_sends/1", 1 << 24, "'cards[0].embedding_sends[1]' is 16777216"},
      {"/cards/2/layers_send/0", "x", "'cards[2].layers_send[0]'"},
      {"/cycles_with_head", {5}, "'cycles_with_head' has 1 entries"},
      {"/cycles_with_head/0", 0, "'cycles_with_head[0]' is 0"},
  };
  const Json good = json();
  for (const Case& one : cases) {
    Json bad = good;
    bad[Json::json_pointer(one.pointer)] = one.value;
    write_json(bad.dump());
    expect_refused(one.named, ExitCode::kBadInput, one.pointer);
  }
  for (const auto& [key, value] : good.items()) {
    Json bad = good;
    bad.erase(key);
    write_json(bad.dump());
    expect_refused("group.json: field '" + key + "' is missing");
  }
}

TEST_F(BadGroup, GroupFileThatIsNoJsonIsRefused) {
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string(2000, '['),
                                  std::string((std::size_t{1} << 24) + 1, ' '), std::string("\"text\"")}) {
    write_json(text);
    expect_refused("group.json");
  }
}

TEST_F(Group, CardsThatMakeNoWholeAreRefused) {
  expect_refused_with(
      1, [](auto& c) { c.shape.layers = 1; }, "'shape.layers' is 6, but the cards have 5 together");
  expect_refused_with(
      1, [](auto& c) { c.shape.first_id = 127; }, "card1/manifest.json: field 'shape.first_id' is 127");
  expect_refused_with(
      1, [](auto& c) { c.shape.first_id = 129; }, "the cards before it hold ids up to 127");
  expect_refused_with(
      2, [](auto& c) { c.shape.ids = 43; }, "card2/manifest.json: field 'shape.ids' ends at 299");
  expect_refused_with(
      0, [](auto& c) { c.shape.first_id = 1; }, "card0/manifest.json: field 'shape.first_id' is 1");
  expect_refused_with(
      2, [](auto& c) { c.hardware.clock_mhz += 10; }, "card2/manifest.json: field 'hardware.clock_mhz'");
  expect_refused_with(
      1, [](auto& c) { c.shape.width = 96; }, "card1/manifest.json: field 'shape.width'");
  expect_refused_with(
      1, [](auto& c) { c.shape.kv_bits = 12; }, "card1/manifest.json: field 'shape.kv_bits'");
  expect_refused_with(
      2,
      [](auto& c) {
        c.shape.context_tokens = 33;
        c.rope.resize(std::size_t{33} * 32);
      },
      "card2/manifest.json: field 'shape.context_tokens'");
  expect_refused_with(
      1,
      [](auto& c) {
        c.program = small_program();
        c.shape.first_id = c.shape.ids = 0;
      },
      "card1/manifest.json: is a card alone");
}

}  // namespace
}  // namespace lpu::test
