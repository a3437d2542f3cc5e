// The options that `run`, `chat` and `evaluate` share: which bundle, on which card, how tokens are chosen.
// Relies on CLI11 and host/runtime.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/bundle/bundle.hpp"
#include "host/card/card.hpp"
#include "host/runtime/sampling.hpp"

namespace lpu::cli {

struct CardChoice {
  std::string bundle;
  std::string card = "golden";
  unsigned threads = 0;
  bool quiet = false;
};

struct TextChoice {
  std::size_t max_tokens = 0;
  runtime::SamplingOptions sampling;
  std::string chat_template;
  std::string system;
};

/// Refuses what CLI11 would read as a number all the same: signs, octal and hexadecimal digits, numbers beyond 64 bits.
CLI::Validator whole_number();
void add_card_options(CLI::App& command, CardChoice& choice);
void add_text_options(CLI::App& command, TextChoice& choice);

/// "1,2,3", which `option` was given; Error(kUsage) for anything else.
std::vector<std::int32_t> parse_ids(const std::string& option, const std::string& text);

/// Opens and checks, with progress where that takes long.
bundle::Bundle open_bundle(const CardChoice& choice);
std::unique_ptr<card::Card> open_card(const CardChoice& choice, const bundle::Bundle& bundle);
/// A whole file as text. Error(kIo) when it can't be read, Error(kUsage) when it is empty.
std::string read_text(const std::string& path);

}  // namespace lpu::cli
