// See card_options.hpp.
#include "host/cli/card_options.hpp"

#include <charconv>

#include "host/base/error.hpp"
#include "host/base/mapped_file.hpp"
#include "host/base/progress.hpp"
#include "host/cli/console.hpp"

namespace lpu::cli {

CLI::Validator whole_number() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        const bool fits = text.size() < 20 || (text.size() == 20 && text <= "18446744073709551615");
        if (digits && fits && (text.size() == 1 || text[0] != '0')) return "";
        return "'" + text + "' is not a whole number, 0 or more, in plain digits";
      },
      "");
}

void add_card_options(CLI::App& command, CardChoice& choice) {
  command.add_option("BUNDLE", choice.bundle, "The folder that `lpu compile` wrote")->required();
  command.add_option("--card", choice.card, "The card that runs it: golden, rtl (the Verilated core)")
      ->capture_default_str();
  command.add_option("--threads", choice.threads, "Threads of the golden card; 0: all cores")
      ->check(whole_number())
      ->check(CLI::Range(0U, 256U))
      ->capture_default_str();
  command.add_flag("--quiet", choice.quiet, "No progress and no summary on standard error");
}

void add_text_options(CLI::App& command, TextChoice& choice) {
  command
      .add_option("--max-tokens", choice.max_tokens, "Stop after so many tokens (default: when the context is full)")
      ->check(whole_number())
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20));
  command.add_option("--temperature", choice.sampling.temperature, "0: always the likeliest token; above: sample")
      ->capture_default_str();
  command.add_option("--top-k", choice.sampling.top_k,
                     "Sample among the K likeliest tokens only, 1 to 64; 0: among all; needs a --temperature above 0");
  command.add_option("--top-p", choice.sampling.top_p,
                     "Sample among the likeliest tokens that together reach this share");
  command.add_option("--seed", choice.sampling.seed, "Same seed, same text, on any machine")
      ->check(whole_number())
      ->capture_default_str();
  command.add_option("--template", choice.chat_template,
                     "Chat template to use instead of the model's: chatml, llama2, llama3, mistral, zephyr, gemma");
  command.add_option("--system", choice.system, "System message (default: the template's own)");
}

std::vector<std::int32_t> parse_ids(const std::string& option, const std::string& text) {
  std::vector<std::int32_t> ids;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int32_t id = 0;
    const auto [after, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (after != end && *after != ','))
      fail(ExitCode::kUsage,
           "{}: \"{}\" at character {} isn't a token id; write whole numbers with commas between them, like "
           "1,2,3.",
           option, text, at - text.data() + 1);
    ids.push_back(id);
    if (after == end) return ids;
    at = after + 1;
  }
}

bundle::Bundle open_bundle(const CardChoice& choice) {
  Progress progress(!choice.quiet);
  return bundle::Bundle::open(choice.bundle, [&progress](double share) {
    throw_if_interrupted();
    progress.update("checking the bundle", share);
  });
}

std::unique_ptr<card::Card> open_card(const CardChoice& choice, const bundle::Bundle& bundle) {
  card::CardOptions options;
  options.threads = choice.threads;
  return card::open_card(choice.card, bundle, options);
}

std::string read_text(const std::string& path) {
  const MappedFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace lpu::cli
