// What servers stream, in every form that clients have to bear, and what is refused.
#include "host/bench/event_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "host/base/error.hpp"

namespace lpu::test {
namespace {

using bench::read_chunk;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> events_of(const std::string& bytes, std::size_t piece) {
  std::vector<std::string> events;
  bench::EventStream stream([&](std::string_view data) { events.emplace_back(data); });
  for (std::size_t i = 0; i < bytes.size(); i += piece) stream.push(std::string_view(bytes).substr(i, piece));
  return events;
}

void expect_refused(const std::string& data, ExitCode code, const std::string& part) {
  try {
    read_chunk(data);
    ADD_FAILURE() << "accepted: " << data;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(EventStream, EveryLineEndAndCutGivesTheSameEvents) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    std::string bytes;
    for (const char* line : {"data: one", "", ": ping", "", "event: x", "data:two", "id: 7", "", "data: a", "data: b",
                             "", "data: cut off"})
      bytes += line + end;
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()})
      EXPECT_THAT(events_of(bytes, piece), ElementsAre("one", "two", "a\nb"));
  }
}

TEST(EventStream, EventWithoutEndIsRefused) {
  bench::EventStream stream([](std::string_view) {});
  EXPECT_THROW(stream.push("data: " + std::string(2 << 20, 'x')), Error);
}

TEST(Chunk, TextOfBothInterfacesIsFound) {
  EXPECT_EQ(read_chunk(R"({"choices":[{"text":" a","index":0,"finish_reason":null}]})").text, " a");
  EXPECT_EQ(read_chunk(R"({"choices":[{"delta":{"content":"b"},"finish_reason":null}]})").text, "b");
  EXPECT_EQ(read_chunk(R"({"choices":[{"delta":{"reasoning":"c"}}]})").text, "c");
  EXPECT_EQ(read_chunk(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})").text, "");
  EXPECT_EQ(read_chunk(R"({"choices":[{"delta":{"content":null}}],"error":null})").text, "");
}

TEST(Chunk, EndAndUsageAreFound) {
  EXPECT_TRUE(read_chunk("[DONE]").done);
  EXPECT_TRUE(read_chunk(R"({"choices":[{"delta":{},"finish_reason":"length"}]})").finished);
  EXPECT_FALSE(read_chunk(R"({"choices":[{"text":"x","finish_reason":null}]})").finished);
  EXPECT_EQ(read_chunk(R"({"choices":[],"usage":{"completion_tokens":150}})").completion_tokens, 150u);
  EXPECT_EQ(read_chunk(R"({"choices":[{"text":""}],"usage":null})").completion_tokens, std::nullopt);
}

TEST(Chunk, NonsenseIsRefused) {
  expect_refused("", ExitCode::kBadInput, "no JSON object");
  expect_refused("<html>", ExitCode::kBadInput, "<html>");
  expect_refused("[1]", ExitCode::kBadInput, "no JSON object");
  expect_refused("{}", ExitCode::kBadInput, "without choices");
  expect_refused(R"({"choices":7})", ExitCode::kBadInput, "without choices");
  expect_refused(R"({"choices":[7]})", ExitCode::kBadInput, "choice");
  for (const char* count : {"-1", "1.5", "\"9\"", "99999999999", "1e3", "null"})
    expect_refused(std::string(R"({"choices":[],"usage":{"completion_tokens":)") + count + "}}", ExitCode::kBadInput,
                   "completion_tokens");
  expect_refused(R"({"error":{"message":"out of memory"}})", ExitCode::kIo, "out of memory");
}

TEST(Chunk, ServersWordsCannotTouchTheTerminal) {
  EXPECT_EQ(bench::quotable("a\x1b[2Jb\n\xff"), "a [2Jb  ");
  EXPECT_EQ(bench::quotable(std::string(300, 'x')), std::string(200, 'x') + " (and more)");
  EXPECT_EQ(bench::error_message(R"({"error":{"message":"no"}})"), "no");
  EXPECT_EQ(bench::error_message(R"({"error":"no"})"), "no");
  EXPECT_EQ(bench::error_message(R"({"message":"no"})"), "no");
  EXPECT_EQ(bench::error_message("Bad Gateway"), "Bad Gateway");
}

}  // namespace
}  // namespace lpu::test
