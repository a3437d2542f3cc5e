// A benchmark against a server that does well, and against servers that don't.
#include "host/bench/endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/error.hpp"
#include "tests/bench/stream_server.hpp"
#include "tests/bench/words_tokenizer.hpp"

namespace lpu::test {
namespace {

using testing::HasSubstr;

const WordsTokenizer kTokenizer;
constexpr const char* kPiece = "data: {\"choices\":[{\"text\":\"word\",\"finish_reason\":null}]}\n\n";

class EndpointTest : public testing::Test {
 protected:
  EndpointTest() {
    options_.model = "m";
    options_.timeout_s = 20;
  }
  std::vector<bench::EndpointRun> run(StreamServer& server, std::size_t count) {
    options_.url = server.url();
    return bench::run_on_endpoint(bench::draw_requests({"t", 20, 5, 4}, count, 1, kTokenizer), kTokenizer, options_);
  }
  void expect_error(StreamServer::Answer answer, ExitCode code, const std::string& part) {
    StreamServer server(std::move(answer));
    expect_error(server, code, part);
  }
  void expect_error(StreamServer& server, ExitCode code, const std::string& part) {
    try {
      run(server, 1);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  }

  bench::EndpointOptions options_;
};

TEST_F(EndpointTest, PromptsGoOutAsTheyAreAndTokensComeBack) {
  StreamServer server(answer_well);
  options_.sessions = 3;
  options_.api_key = "secret";
  options_.temperature = 0.5;
  const auto requests = bench::draw_requests({"t", 20, 5, 4}, 7, 1, kTokenizer);
  const auto runs = run(server, 7);
  ASSERT_EQ(runs.size(), 7u);
  std::vector<std::string> sent, drawn;
  for (const auto& body : server.bodies()) {
    sent.push_back(body.at("prompt"));
    EXPECT_EQ(body.at("model"), "m");
    EXPECT_EQ(body.at("max_tokens"), 4);
    EXPECT_EQ(body.at("temperature"), 0.5);
    EXPECT_EQ(body.at("stream"), true);
    EXPECT_FALSE(body.contains("ignore_eos"));
  }
  for (const auto& request : requests) drawn.push_back(request.prompt);
  EXPECT_THAT(sent, testing::UnorderedElementsAreArray(drawn));
  EXPECT_THAT(server.paths(), testing::Each("/v1/completions"));
  EXPECT_THAT(server.keys(), testing::Each("Bearer secret"));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].index, i);
    EXPECT_EQ(runs[i].times.output_tokens, 4u);
    EXPECT_TRUE(runs[i].is_counted_by_server);
    EXPECT_EQ(runs[i].times.pieces_s.size(), 4u);
    EXPECT_GE(runs[i].times.pieces_s.back() - runs[i].times.arrival_s, 0.004);
  }
}

TEST_F(EndpointTest, ChatAndOptionsAreSentAsAsked) {
  StreamServer server(answer_well);
  options_.is_chat = true;
  options_.asks_for_usage = false;
  options_.ignores_end = true;
  options_.warm_up = 2;
  const auto runs = run(server, 1);
  ASSERT_EQ(server.bodies().size(), 3u);
  const auto body = server.bodies().back();
  EXPECT_EQ(body.at("messages").at(0).at("role"), "user");
  EXPECT_EQ(body.at("ignore_eos"), true);
  EXPECT_FALSE(body.contains("stream_options"));
  EXPECT_EQ(server.paths().back(), "/v1/chat/completions");
  EXPECT_FALSE(runs[0].is_counted_by_server);
  EXPECT_EQ(runs[0].times.output_tokens, 4u);  // of "wordwordwordword", by our tokenizer
}

TEST_F(EndpointTest, ServerThatRefusesIsQuoted) {
  expect_error(answer_with(401, "application/json", R"({"error":{"message":"wrong key","type":"x"}})"), ExitCode::kIo,
               "status 401: wrong key");
  expect_error(answer_with(500, "text/html", "<h1>\x1b[31mdown"), ExitCode::kIo, "status 500: <h1> [31mdown");
}

TEST_F(EndpointTest, ServerThatDoesNotStreamIsRefused) {
  expect_error(answer_with(200, "application/json", R"({"choices":[]})"), ExitCode::kBadInput, "doesn't stream");
}

TEST_F(EndpointTest, AnswerThatEndsEarlyIsNoAnswer) {
  expect_error(answer_with(200, "text/event-stream", std::string(kPiece) + kPiece), ExitCode::kIo,
               "ended an answer early, after 2 pieces");
  expect_error(answer_with(200, "text/event-stream", ""), ExitCode::kIo, "ended an answer early, after 0 pieces");
}

TEST_F(EndpointTest, NonsenseAndErrorsInTheStreamAreRefused) {
  expect_error(answer_with(200, "text/event-stream", std::string(kPiece) + "data: oops\n\n"), ExitCode::kBadInput,
               "oops");
  expect_error(answer_with(200, "text/event-stream", "data: [DONE]\n\n"), ExitCode::kBadInput, "without any text");
  expect_error(
      answer_with(200, "text/event-stream", std::string(kPiece) + "data: {\"error\":{\"message\":\"gone\"}}\n\n"),
      ExitCode::kIo, "gone");
}

TEST_F(EndpointTest, ServerThatStallsMeetsTheTimeLimit) {
  options_.timeout_s = 0.3;
  StreamServer* self = nullptr;
  StreamServer server([&](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("text/event-stream", [&](std::size_t, httplib::DataSink& sink) {
      sink.write(kPiece, std::string(kPiece).size());
      for (int i = 0; i < 3000 && !self->is_ending; ++i) {  // a comment now and then, so that no read times out
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (!sink.write(": ping\n", 7)) return false;
      }
      return false;
    });
  });
  self = &server;
  const auto begin = std::chrono::steady_clock::now();
  expect_error(server, ExitCode::kIo, "took more than 0.3 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

TEST_F(EndpointTest, InterruptionEndsARunningRequest) {
  StreamServer* self = nullptr;
  StreamServer server([&](const httplib::Request&, httplib::Response&) {
    for (int i = 0; i < 1000 && !self->is_ending; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  self = &server;
  options_.is_interrupted = [&] { return !server.bodies().empty(); };
  expect_error(server, ExitCode::kInterrupted, "Interrupted");
}

TEST_F(EndpointTest, AbsentServerIsOneSentence) {
  std::string url;
  {
    const StreamServer server(answer_well);
    url = server.url();
  }
  options_.url = url;
  try {
    bench::run_on_endpoint(bench::draw_requests({"t", 20, 5, 4}, 1, 1, kTokenizer), kTokenizer, options_);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kIo);
    EXPECT_THAT(error.what(), HasSubstr("is the server running"));
  }
}

TEST_F(EndpointTest, FirstFailureEndsTheOtherSessions) {
  std::atomic<int> asked = 0;
  StreamServer server([&](const httplib::Request& request, httplib::Response& response) {
    if (++asked == 2) {
      answer_with(503, "text/plain", "busy")(request, response);
    } else {
      answer_well(request, response);
    }
  });
  options_.sessions = 2;
  EXPECT_THROW(run(server, 50), Error);
  EXPECT_LT(asked, 50);
}

TEST(Address, ServerAndPathAreToldApart) {
  EXPECT_EQ(bench::parse_address("http://localhost:8000").server, "http://localhost:8000");
  EXPECT_EQ(bench::parse_address("http://localhost:8000").path, "/v1");
  EXPECT_EQ(bench::parse_address("https://h/openai/v1/").server, "https://h");
  EXPECT_EQ(bench::parse_address("https://h/openai/v1/").path, "/openai/v1");
  EXPECT_EQ(bench::parse_address("http://[::1]:80/v1").server, "http://[::1]:80");
}

TEST(Address, AnythingElseIsRefused) {
  for (const char* url : {"", "localhost:8000", "ftp://h", "http://", "http:///v1", "http://h:0", "http://h:65536",
                          "http://h:x", "http://h:", "http://h/v1?a=b", "http://user@h", "http://h/a b", "http://h\n",
                          "http://h:99999999999999999999"}) {
    try {
      bench::parse_address(url);
      ADD_FAILURE() << "accepted " << url;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage) << url;
    }
  }
}

TEST(Address, KeyWithALineEndIsRefused) {
  bench::EndpointOptions options;
  options.url = "http://127.0.0.1:9";
  options.api_key = "a\r\nX: b";
  EXPECT_THROW(bench::run_on_endpoint({}, kTokenizer, options), Error);
}

}  // namespace
}  // namespace lpu::test
