// A small OpenAI-like server in the test's own process, which answers as it is told. Relies on cpp-httplib.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace lpu::test {

class StreamServer {
 public:
  using Answer = std::function<void(const httplib::Request&, httplib::Response&)>;

  explicit StreamServer(Answer answer) : answer_(std::move(answer)) {
    const auto post = [this](const httplib::Request& request, httplib::Response& response) {
      {
        const std::lock_guard lock(mutex_);
        bodies_.push_back(nlohmann::json::parse(request.body));
        paths_.push_back(request.path);
        keys_.push_back(request.get_header_value("Authorization"));
      }
      answer_(request, response);
    };
    server_.Post("/v1/completions", post);
    server_.Post("/v1/chat/completions", post);
    server_.new_task_queue = [] { return new httplib::ThreadPool(12); };  // more than sessions
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~StreamServer() {
    is_ending = true;
    server_.stop();
    thread_.join();
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<nlohmann::json> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }
  std::vector<std::string> paths() { return paths_; }
  std::vector<std::string> keys() { return keys_; }

  std::atomic<bool> is_ending = false;

 private:
  Answer answer_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<nlohmann::json> bodies_;
  std::vector<std::string> paths_;
  std::vector<std::string> keys_;
};

/// As many words as were asked for, a millisecond apart, then the usage where it was asked for, then [DONE].
inline void answer_well(const httplib::Request& request, httplib::Response& response) {
  const auto body = nlohmann::json::parse(request.body);
  const auto tokens = body.at("max_tokens").get<std::size_t>();
  const bool usage = body.contains("stream_options");
  const bool chat = body.contains("messages");
  response.set_chunked_content_provider("text/event-stream", [=](std::size_t, httplib::DataSink& sink) {
    const auto send = [&](const std::string& text) { sink.write(text.data(), text.size()); };
    for (std::size_t i = 0; i < tokens; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      send(chat ? "data: {\"choices\":[{\"delta\":{\"content\":\"word\"},\"finish_reason\":null}]}\n\n"
                : "data: {\"choices\":[{\"text\":\"word\",\"finish_reason\":null}]}\n\n");
    }
    send("data: {\"choices\":[{\"text\":\"\",\"delta\":{},\"finish_reason\":\"length\"}]}\n\n");
    if (usage) send("data: {\"choices\":[],\"usage\":{\"completion_tokens\":" + std::to_string(tokens) + "}}\n\n");
    send("data: [DONE]\n\n");
    sink.done();
    return true;
  });
}

/// This body, streamed or not.
inline StreamServer::Answer answer_with(int status, const std::string& type, const std::string& body) {
  return [=](const httplib::Request&, httplib::Response& response) {
    response.status = status;
    response.set_content(body, type.c_str());
  };
}

}  // namespace lpu::test
