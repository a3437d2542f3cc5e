// See text_model.hpp.
#include "host/runtime/text_model.hpp"

#include <malloc.h>

#include <optional>

#include "host/base/error.hpp"

namespace lpu::runtime {
namespace {

constexpr std::string_view kTemplateKey = "tokenizer.chat_template";

}  // namespace

TextModel::TextModel(const bundle::Bundle& bundle) {
  read(bundle);
  // The file's lists of tokens and merges are gone by now, but the allocator keeps their pages unless it is told.
  ::malloc_trim(0);
}

void TextModel::read(const bundle::Bundle& bundle) {
  const model::GgufFile file(bundle.tokenizer_file());
  if (const std::string* jinja = file.find_string(kTemplateKey)) jinja_ = *jinja;
  tokenizer_ = model::Tokenizer::from(file);
  if (tokenizer_->vocabulary() != bundle.shape().vocabulary)
    fail(ExitCode::kBadInput, "{}: holds {} tokens, but the bundle's model has {}; compile the model again",
         file.path().string(), tokenizer_->vocabulary(), bundle.shape().vocabulary);
}

model::ChatTemplate TextModel::chat_template(const std::string& name) const {
  if (!name.empty()) return model::chat_template_by_name(name);
  if (jinja_.empty())
    fail(ExitCode::kBadInput,
         "The model's file has no chat template; name one that fits the model, for example --template chatml.");
  const std::optional<model::ChatTemplate> found = model::recognise_chat_template(jinja_);
  if (!found)
    fail(
        ExitCode::kBadInput,
        "The chat template in the model's file isn't one that is known here, and a template is never run as a program; "
        "name one that fits the model, for example --template chatml.");
  return *found;
}

}  // namespace lpu::runtime
