// Reads what an OpenAI-compatible server streams: server-sent events, each a JSON chunk of the answer, until [DONE].
// Nothing from outside is trusted: sizes and counts are capped, and what isn't understood is an Error(kBadInput).
// Relies on nlohmann-json (in the .cpp only).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lpu::bench {

/// Cuts a byte stream into the data of its events: LF, CRLF or CR ends a line, an empty line an event; comments and all
/// fields but `data` are passed over; an event without data, and one that the stream's end cuts off, isn't one.
class EventStream {
 public:
  explicit EventStream(std::function<void(std::string_view)> on_data) : on_data_(std::move(on_data)) {}
  /// Error(kBadInput) for an event beyond a megabyte; what `on_data` throws.
  void push(std::string_view bytes);

 private:
  void end_line();

  std::function<void(std::string_view)> on_data_;
  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_return_ = false;  ///< a line feed that follows belongs to the carriage return
};

/// What one chunk says.
struct Chunk {
  bool done = false;      ///< [DONE]
  bool finished = false;  ///< has a finish_reason
  std::string text;       ///< empty: no token in it (a role, a usage report)
  std::optional<std::uint64_t> completion_tokens;
};

/// Of /v1/completions (choices[0].text) as of /v1/chat/completions (choices[0].delta.content, or .reasoning, or
/// .reasoning_content). Error(kBadInput) for what isn't such a chunk; Error(kIo) with the server's words for an error
/// object.
Chunk read_chunk(std::string_view data);

/// A server's words, fit for a terminal: at most 200 bytes, without control characters.
std::string quotable(std::string_view text);

/// The message in an error body ({"error":{"message":…}} and its kin), else the body itself; quotable.
std::string error_message(std::string_view body);

}  // namespace lpu::bench
