// What the subcommands share on their way to the user: standard output that notices a full disk, tables, Ctrl-C.
// Relies on fmt, nlohmann-json and the system's signals.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lpu::cli {

using Json = nlohmann::ordered_json;

/// Writes to standard output at once; Error(kIo) when that fails.
void put_out(std::string_view text);
/// One JSON value and a newline; bytes that aren't UTF-8 are replaced.
std::string json_text(const Json& value);
/// The same on standard output.
void put_json(const Json& value);

/// From now on Ctrl-C sets a flag instead of ending the program; a second one ends it.
void catch_interrupts();
bool was_interrupted();
/// For the next line of a conversation.
void forget_interrupt();
/// Error(kInterrupted) after Ctrl-C: for work that leaves nothing behind when it is abandoned.
void throw_if_interrupted();

/// Columns of text: the first one to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lpu::cli
