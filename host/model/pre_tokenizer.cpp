// The patterns, and the loop that applies them. A match is a word, and what lies between two matches is one too.
// White space is spelt out: PCRE2's \s also holds U+180E, which stopped being white space in Unicode 6.3, and the
// vocabularies were made without it. Relies on text being well-formed UTF-8 (PCRE2 would check it for every word).
#include "host/model/pre_tokenizer.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <string>

#include "host/base/error.hpp"

namespace lpu::model {
namespace {

#define LPU_SPACE "\\t-\\r\\x{85}\\p{Z}"
// Contraction | word | number | anything else | white space except its last character | white space.
constexpr const char* kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" LPU_SPACE "\\p{L}\\p{N}]+|[" LPU_SPACE
                              "]+(?![^" LPU_SPACE "])|[" LPU_SPACE "]+";
constexpr const char* kDigits = "\\p{N}";
// As above, but a word may begin with any one sign, contractions in either case, and line ends are words of their own.
#define LPU_LLAMA3(NUMBER)                                                                             \
  "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" NUMBER "| ?[^" LPU_SPACE \
  "\\p{L}\\p{N}]+[\\r\\n]*|[" LPU_SPACE "]*[\\r\\n]+|[" LPU_SPACE "]+(?![^" LPU_SPACE "])|[" LPU_SPACE "]+"
constexpr const char* kLlama3 = LPU_LLAMA3("\\p{N}{1,3}");
constexpr const char* kQwen2 = LPU_LLAMA3("\\p{N}");

struct Recipe {
  std::string_view name;
  std::array<const char*, 2> passes;  ///< nullptr: none
  bool whole_words_first;
};
constexpr std::array<Recipe, 4> kRecipes = {{{"smollm", {kDigits, kGpt2}, false},
                                             {"gpt-2", {kGpt2, nullptr}, false},
                                             {"llama-bpe", {kLlama3, nullptr}, true},
                                             {"qwen2", {kQwen2, nullptr}, false}}};

struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  if (pcre2_get_error_message(error, text.data(), text.size()) < 0) return "unknown error";
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

class PreTokenizer::Pattern {
 public:
  explicit Pattern(const char* pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP,
                              &error, &offset, nullptr));
    if (!code_) {
      fail(ExitCode::kInternal, "PCRE2 refuses the word pattern at offset {}: {}.", offset, message_of(error));
    }
    // Where there's no JIT (processor, or a system that forbids writable code) PCRE2 interprets instead.
    static_cast<void>(pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE));
  }

  void split(std::string_view text, std::vector<std::string_view>& words) const {
    const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create(1, nullptr));
    if (!match) throw std::bad_alloc();
    std::size_t position = 0;
    while (position < text.size()) {
      const int result = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), position,
                                     PCRE2_NO_UTF_CHECK, match.get(), nullptr);
      if (result == PCRE2_ERROR_NOMATCH) break;
      if (result < 0) {
        fail(ExitCode::kBadInput, "The text can't be cut into words at byte {} of {}: {}. Shorten its longest run.",
             position, text.size(), message_of(result));
      }
      const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
      if (bounds[0] > position) words.push_back(text.substr(position, bounds[0] - position));
      words.push_back(text.substr(bounds[0], bounds[1] - bounds[0]));
      position = bounds[1];
    }
    if (position < text.size()) words.push_back(text.substr(position));
  }

 private:
  std::unique_ptr<pcre2_code, FreeCode> code_;
};

PreTokenizer::PreTokenizer() = default;
PreTokenizer::~PreTokenizer() = default;

std::string_view PreTokenizer::supported() { return "smollm, gpt-2, llama-bpe, qwen2"; }

std::unique_ptr<PreTokenizer> PreTokenizer::by_name(std::string_view name) {
  for (const Recipe& recipe : kRecipes) {
    if (recipe.name != name) continue;
    std::unique_ptr<PreTokenizer> result(new PreTokenizer());
    for (const char* pass : recipe.passes) {
      if (pass != nullptr) result->passes_.emplace_back(pass);
    }
    result->whole_words_first_ = recipe.whole_words_first;
    return result;
  }
  return nullptr;
}

std::vector<std::string_view> PreTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> words{text};
  for (const Pattern& pass : passes_) {
    std::vector<std::string_view> finer;
    for (const std::string_view word : words) pass.split(word, finer);
    words = std::move(finer);
  }
  return words;
}

}  // namespace lpu::model
