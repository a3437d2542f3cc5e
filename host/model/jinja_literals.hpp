// Looks for string literals in a Jinja template's text without running it, and trims as Jinja does.
// Relies on nothing. The text is untrusted: every search is linear and takes nothing but literals.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lpu::model {

/// The text between two marks where it is all literal, escapes resolved: inside one quoted string, or between the
/// template's tags. nullopt when there is none. The first one counts.
std::optional<std::string> literal_between(std::string_view jinja, std::string_view before, std::string_view after);

/// The first quoted string that contains the mark, escapes resolved.
std::optional<std::string> literal_with(std::string_view jinja, std::string_view mark);

/// Without white space (Python's str.strip) at both ends, or at the end only. Text that isn't UTF-8 is left alone
/// there.
std::string_view trim(std::string_view text);
std::string_view trim_end(std::string_view text);

}  // namespace lpu::model
