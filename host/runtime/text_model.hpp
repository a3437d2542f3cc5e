// The text side of a bundle: its tokenizer and its chat template. Relies on host/model; it reads the small GGUF file
// that lies in the bundle, so that running needs no model file.
#pragma once

#include <memory>
#include <string>

#include "host/bundle/bundle.hpp"
#include "host/model/tokenizer.hpp"

namespace lpu::runtime {

class TextModel {
 public:
  explicit TextModel(const bundle::Bundle& bundle);

  [[nodiscard]] const model::Tokenizer& tokenizer() const { return *tokenizer_; }
  /// The template's text from the model's file; empty when it has none.
  [[nodiscard]] const std::string& jinja() const { return jinja_; }
  /// The template of this name, or, for an empty name, the one that the file's text is. Error(kUsage) for an unknown
  /// name, Error(kBadInput) that tells of --template when the file's text isn't recognised.
  [[nodiscard]] model::ChatTemplate chat_template(const std::string& name) const;

 private:
  void read(const bundle::Bundle& bundle);

  std::string jinja_;
  std::unique_ptr<model::Tokenizer> tokenizer_;
};

}  // namespace lpu::runtime
