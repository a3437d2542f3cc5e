// Reads files built in memory and holds refusals to the project's rule: the sentence names file, field and offset.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "host/base/error.hpp"
#include "host/model/gguf.hpp"
#include "host/model/model.hpp"
#include "tests/support/gguf_builder.hpp"

namespace lpu::test {

inline model::GgufFile read(std::vector<std::byte> bytes) {
  return model::GgufFile::from_bytes(std::move(bytes), "some/file.gguf");
}
inline model::GgufFile read(const GgufBuilder& builder) { return read(builder.build()); }

/// The sentence of the Error(kBadInput) that `action` ends in; nullopt when it doesn't end in one.
template <typename Action>
std::optional<std::string> refusal_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() == ExitCode::kBadInput) return error.what();
  }
  return std::nullopt;
}

inline void expect_sentence(const std::optional<std::string>& sentence, std::initializer_list<std::string> parts) {
  ASSERT_TRUE(sentence.has_value()) << "accepted";
  EXPECT_THAT(*sentence, testing::StartsWith("some/file.gguf: "));
  EXPECT_THAT(*sentence, testing::HasSubstr("; ")) << "says nothing about what to do";
  for (const std::string& part : parts) EXPECT_THAT(*sentence, testing::HasSubstr(part));
}

inline void expect_refused(const std::vector<std::byte>& bytes, std::initializer_list<std::string> parts) {
  expect_sentence(refusal_of([&] { read(bytes); }), parts);
}
inline void expect_refused(const GgufBuilder& builder, std::initializer_list<std::string> parts) {
  expect_refused(builder.build(), parts);
}
inline void expect_model_refused(const GgufBuilder& builder, std::initializer_list<std::string> parts) {
  expect_sentence(refusal_of([&] { model::Model::from(read(builder)); }), parts);
}

}  // namespace lpu::test
