// See event_stream.hpp.
#include "host/bench/event_stream.hpp"

#include <nlohmann/json.hpp>

#include "host/base/error.hpp"

namespace lpu::bench {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostEventBytes = std::size_t{1} << 20;
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 24;
constexpr std::size_t kMostQuotedBytes = 200;

std::optional<std::uint64_t> completion_tokens(const Json& chunk) {
  const auto usage = chunk.find("usage");
  if (usage == chunk.end() || !usage->is_object()) return std::nullopt;
  const auto tokens = usage->find("completion_tokens");
  if (tokens == usage->end()) return std::nullopt;
  if (!tokens->is_number_unsigned() || tokens->get<std::uint64_t>() > kMostTokens)
    fail(ExitCode::kBadInput, "The server counts completion_tokens as {}, which is no number of tokens.",
         quotable(tokens->dump(-1, ' ', true, Json::error_handler_t::replace)));
  return tokens->get<std::uint64_t>();
}

void append_text(const Json& choice, const char* key, std::string& text) {
  const auto found = choice.find(key);
  if (found != choice.end() && found->is_string()) text += found->get_ref<const std::string&>();
}

}  // namespace

std::string quotable(std::string_view text) {
  std::string clean;
  for (const char c : text.substr(0, kMostQuotedBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    clean += byte < 0x20 || byte >= 0x7f ? ' ' : c;
  }
  return text.size() > kMostQuotedBytes ? clean + " (and more)" : clean;
}

std::string error_message(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (json.is_object()) {
    const auto error = json.find("error");
    const Json& holder = error != json.end() && error->is_object() ? *error : json;
    const auto message = holder.find("message");
    if (message != holder.end() && message->is_string()) return quotable(message->get_ref<const std::string&>());
    if (error != json.end() && error->is_string()) return quotable(error->get_ref<const std::string&>());
  }
  return quotable(body);
}

void EventStream::push(std::string_view bytes) {
  for (const char c : bytes) {
    const bool is_second_half = c == '\n' && after_return_;
    after_return_ = c == '\r';
    if (is_second_half) continue;
    if (c == '\n' || c == '\r') {
      end_line();
      continue;
    }
    line_ += c;
    if (line_.size() + data_.size() > kMostEventBytes)
      fail(ExitCode::kBadInput, "The server sent an event of more than {} bytes, which is no token.", kMostEventBytes);
  }
}

void EventStream::end_line() {
  constexpr std::string_view kField = "data:";
  if (line_.empty()) {
    const std::string data = std::move(data_);
    const bool has_data = has_data_;
    data_.clear();
    has_data_ = false;
    if (has_data) on_data_(data);
    return;
  }
  if (line_.starts_with(kField)) {
    std::string_view value = std::string_view(line_).substr(kField.size());
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }
  line_.clear();
}

Chunk read_chunk(std::string_view data) {
  Chunk chunk;
  if (data == "[DONE]") {
    chunk.done = true;
    return chunk;
  }
  const Json json = Json::parse(data, nullptr, false);
  if (!json.is_object())
    fail(ExitCode::kBadInput, "The server streamed something that is no JSON object: \"{}\".", quotable(data));
  if (const auto error = json.find("error"); error != json.end() && !error->is_null())
    fail(ExitCode::kIo, "The server broke the answer off: {}", error_message(data));
  chunk.completion_tokens = completion_tokens(json);
  const auto choices = json.find("choices");
  if (choices == json.end() || !choices->is_array())
    fail(ExitCode::kBadInput, "The server streamed a chunk without choices: \"{}\".", quotable(data));
  if (choices->empty()) return chunk;  // a usage report
  const Json& choice = choices->front();
  if (!choice.is_object())
    fail(ExitCode::kBadInput, "The server streamed a choice that is no object: \"{}\".", quotable(data));
  append_text(choice, "text", chunk.text);
  if (const auto delta = choice.find("delta"); delta != choice.end() && delta->is_object()) {
    for (const char* key : {"content", "reasoning", "reasoning_content"}) append_text(*delta, key, chunk.text);
  }
  const auto reason = choice.find("finish_reason");
  chunk.finished = reason != choice.end() && reason->is_string();
  return chunk;
}

}  // namespace lpu::bench
