// See endpoint.hpp.
#include "host/bench/endpoint.hpp"

#include <httplib.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "host/base/error.hpp"
#include "host/bench/event_stream.hpp"

namespace lpu::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kConnectTimeout = std::chrono::seconds(10);
constexpr auto kWatchInterval = std::chrono::milliseconds(20);
constexpr std::size_t kMostErrorBytes = 4096;
constexpr std::size_t kMostTextBytes = std::size_t{16} << 20;
constexpr int kHttpOk = 200;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string body_of(const Request& request, const EndpointOptions& options) {
  nlohmann::json body = {{"model", options.model},
                         {"stream", true},
                         {"max_tokens", request.output_tokens},
                         {"temperature", options.temperature},
                         {"seed", options.seed + request.index}};
  if (options.is_chat) {
    body["messages"] = {{{"role", "user"}, {"content", request.prompt}}};
  } else {
    body["prompt"] = request.prompt;
  }
  if (options.asks_for_usage) body["stream_options"] = {{"include_usage", true}};
  if (options.ignores_end) body["ignore_eos"] = true;
  return body.dump();
}

/// One answer, as it comes in.
struct Answer {
  std::vector<Clock::time_point> pieces;
  std::string text;
  std::optional<std::uint64_t> counted_tokens;
  bool is_complete = false;

  void add(std::string_view data) {
    const Chunk chunk = read_chunk(data);
    is_complete = is_complete || chunk.done || chunk.finished;
    if (chunk.completion_tokens) counted_tokens = chunk.completion_tokens;
    if (chunk.text.empty()) return;
    pieces.push_back(Clock::now());
    text += chunk.text;
    if (text.size() > kMostTextBytes)
      fail(ExitCode::kBadInput, "The server sent more than {} bytes of text and doesn't end.", kMostTextBytes);
  }
};

/// One connection, whose requests end at their deadline, whatever the server does meanwhile.
class Connection {
 public:
  Connection(const Address& address, const EndpointOptions& options)
      : address_(address), options_(options), client_(address.server) {
    client_.set_connection_timeout(kConnectTimeout);
    const auto timeout = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000));
    client_.set_read_timeout(timeout);
    client_.set_write_timeout(timeout);
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
  }

  Answer ask(const Request& request) {
    Answer answer;
    std::string refusal;
    std::exception_ptr error;
    int status = 0;
    std::string type;
    EventStream stream([&](std::string_view data) { answer.add(data); });
    httplib::Request post;
    post.method = "POST";
    post.path = address_.path + (options_.is_chat ? "/chat/completions" : "/completions");
    post.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}};
    if (!options_.api_key.empty()) post.headers.emplace("Authorization", "Bearer " + options_.api_key);
    post.body = body_of(request, options_);
    post.response_handler = [&](const httplib::Response& response) {
      status = response.status;
      type = response.get_header_value("Content-Type");
      return true;
    };
    post.content_receiver = [&](const char* bytes, std::size_t count, std::uint64_t, std::uint64_t) {
      if (status != kHttpOk || !type.starts_with("text/event-stream")) {
        refusal.append(bytes, std::min(count, kMostErrorBytes - refusal.size()));
        return refusal.size() < kMostErrorBytes;
      }
      try {
        stream.push({bytes, count});
      } catch (...) {
        error = std::current_exception();
      }
      return error == nullptr;
    };

    const Clock::time_point begin = Clock::now();
    deadline_s_ = seconds_between({}, begin) + options_.timeout_s;
    httplib::Response response;
    auto failure = httplib::Error::Success;
    client_.send(post, response, failure);
    deadline_s_ = kNoDeadline;
    if (options_.is_interrupted && options_.is_interrupted())
      fail(ExitCode::kInterrupted, "Interrupted; nothing was written.");
    if (error) std::rethrow_exception(error);
    check(status, type, refusal, failure, seconds_between(begin, Clock::now()), answer);
    return answer;
  }

  /// Called by the watching thread.
  void end_if_late(Clock::time_point now, bool interrupted) {
    const double deadline_s = deadline_s_;
    if (deadline_s != kNoDeadline && (interrupted || seconds_between({}, now) > deadline_s)) client_.stop();
  }

 private:
  static constexpr double kNoDeadline = -1;

  void check(int status, const std::string& type, const std::string& refusal, httplib::Error failure, double took_s,
             const Answer& answer) const {
    const std::string where = address_.server + address_.path;
    if (status != 0 && status != kHttpOk)
      fail(ExitCode::kIo, "The server at {} refused with HTTP status {}: {}", where, status, error_message(refusal));
    if (answer.is_complete && !answer.pieces.empty()) return;
    if (took_s >= options_.timeout_s)
      fail(ExitCode::kIo, "The server at {} took more than {} s; look at the server, or give a longer --timeout-s.",
           where, options_.timeout_s);
    if (status == 0)
      fail(ExitCode::kIo, "No answer from {} ({}); is the server running, and is that its address?", where,
           httplib::to_string(failure));
    if (!type.starts_with("text/event-stream"))
      fail(ExitCode::kBadInput, "The server at {} doesn't stream: its answer is of type \"{}\", not text/event-stream.",
           where, quotable(type));
    if (!answer.is_complete)
      fail(ExitCode::kIo, "The server at {} ended an answer early, after {} pieces of text.", where,
           answer.pieces.size());
    if (answer.pieces.empty()) fail(ExitCode::kBadInput, "The server at {} sent an answer without any text.", where);
  }

  const Address& address_;
  const EndpointOptions& options_;
  httplib::Client client_;
  std::atomic<double> deadline_s_ = kNoDeadline;  ///< on the steady clock
};

class EndpointBench {
 public:
  EndpointBench(const std::vector<Request>& requests, const model::Tokenizer& tokenizer, const EndpointOptions& options)
      : requests_(requests), tokenizer_(tokenizer), options_(options), address_(parse_address(options.url)) {
    for (std::size_t i = 0; i < std::min(options.sessions, requests.size()); ++i)
      connections_.push_back(std::make_unique<Connection>(address_, options));
  }

  std::vector<EndpointRun> run() {
    runs_.resize(requests_.size());
    const std::jthread watch([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const bool interrupted = options_.is_interrupted && options_.is_interrupted();
        for (const auto& connection : connections_) connection->end_if_late(Clock::now(), interrupted);
        std::this_thread::sleep_for(kWatchInterval);
      }
    });
    for (std::size_t i = 0; i < options_.warm_up; ++i) connections_.front()->ask(requests_[i % requests_.size()]);
    begin_ = Clock::now();
    {
      std::vector<std::jthread> sessions;
      for (std::size_t i = 0; i < connections_.size(); ++i) sessions.emplace_back([this, i] { serve(i); });
    }
    if (error_) std::rethrow_exception(error_);
    return std::move(runs_);
  }

 private:
  /// A session: asks, waits for the whole answer, asks the next one.
  void serve(std::size_t session) {
    try {
      const auto due = begin_ + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(options_.interval_s * static_cast<double>(session)));
      while (Clock::now() < due && !has_failed_) {
        if (options_.is_interrupted && options_.is_interrupted())
          fail(ExitCode::kInterrupted, "Interrupted; nothing was written.");
        std::this_thread::sleep_for(std::min<Clock::duration>(kWatchInterval, due - Clock::now()));
      }
      while (!has_failed_) {
        const std::size_t at = next_request_++;
        if (at >= requests_.size()) return;
        const Clock::time_point sent = Clock::now();
        note(at, session, sent, connections_[session]->ask(requests_[at]));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      has_failed_ = true;
    }
  }

  void note(std::size_t at, std::size_t session, Clock::time_point sent, const Answer& answer) {
    EndpointRun run;
    run.index = requests_[at].index;
    run.session = session;
    run.asked_tokens = requests_[at].output_tokens;
    run.is_counted_by_server = answer.counted_tokens.value_or(0) > 0;
    run.times.output_tokens = run.is_counted_by_server
                                  ? static_cast<std::size_t>(*answer.counted_tokens)
                                  : std::max<std::size_t>(tokenizer_.encode(answer.text, false, false).size(), 1);
    run.times.arrival_s = run.times.start_s = seconds_between(begin_, sent);
    for (const Clock::time_point piece : answer.pieces) run.times.pieces_s.push_back(seconds_between(begin_, piece));
    const std::lock_guard lock(mutex_);
    runs_[at] = std::move(run);
    ++done_;
    if (options_.on_progress) options_.on_progress(static_cast<double>(done_) / static_cast<double>(runs_.size()));
  }

  const std::vector<Request>& requests_;
  const model::Tokenizer& tokenizer_;
  const EndpointOptions& options_;
  Address address_;
  std::vector<std::unique_ptr<Connection>> connections_;  ///< one per session
  Clock::time_point begin_;
  std::atomic<std::size_t> next_request_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;  ///< guards what follows
  std::vector<EndpointRun> runs_;
  std::size_t done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

Address parse_address(const std::string& url) {
  const auto refuse = [&url](const char* why) {
    fail(ExitCode::kUsage, "\"{}\" {}; write it like http://localhost:8000 or https://host/v1.", quotable(url), why);
  };
  const std::size_t scheme_end = url.find("://");
  const std::string scheme = url.substr(0, scheme_end);
  if (scheme_end == std::string::npos || (scheme != "http" && scheme != "https")) refuse("is no http or https address");
  if (url.find_first_of("?# @\\") != std::string::npos ||
      std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c > '~'; }))
    refuse("has characters that the address of a server doesn't need");
  const std::size_t host_begin = scheme_end + 3;
  const std::size_t path_begin = std::min(url.find('/', host_begin), url.size());
  Address address{url.substr(0, path_begin), url.substr(path_begin)};
  std::string host = url.substr(host_begin, path_begin - host_begin);
  const std::size_t colon = host.find(':', host.starts_with('[') ? std::min(host.find(']'), host.size()) : 0);
  if (colon != std::string::npos) {
    const std::string port = host.substr(colon + 1);
    const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || std::stoi(port) < 1 || std::stoi(port) > 65535) refuse("has no port of 1 to 65535");
    host.resize(colon);
  }
  if (host.empty()) refuse("names no host");
  while (address.path.ends_with('/')) address.path.pop_back();
  if (address.path.empty()) address.path = "/v1";
  return address;
}

std::vector<EndpointRun> run_on_endpoint(const std::vector<Request>& requests, const model::Tokenizer& tokenizer,
                                         const EndpointOptions& options) {
  if (std::any_of(options.api_key.begin(), options.api_key.end(), [](char c) { return c <= ' ' || c > '~'; }))
    fail(ExitCode::kUsage,
         "The API key has characters that no HTTP header may have; check the variable that holds it.");
  if (requests.empty()) return {};
  ::signal(SIGPIPE, SIG_IGN);  // a server that closes early is an error to report, not a signal to die of
  return EndpointBench(requests, tokenizer, options).run();
}

}  // namespace lpu::bench
