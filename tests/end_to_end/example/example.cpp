// Generates a few tokens with the installed library: opens a model, encodes a prompt, takes the most likely token each
// time. Relies on nothing but find_package(OpenLPU).
#include <cstdio>
#include <string>
#include <vector>

#include "host/base/error.hpp"
#include "host/model/model.hpp"
#include "host/model/tokenizer.hpp"
#include "host/reference/decoder.hpp"
#include "host/reference/divergence.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: example MODEL.gguf\n");
    return static_cast<int>(lpu::ExitCode::kUsage);
  }
  try {
    const auto model = lpu::model::Model::open(argv[1]);
    const auto tokenizer = lpu::model::Tokenizer::from(model->file());
    const auto& shape = model->shape();
    std::printf("%s: %u layers of width %u, %u heads, %u tokens known\n", shape.name.c_str(), shape.layers, shape.width,
                shape.heads, shape.vocabulary);

    const std::string prompt = "The capital of France is";
    lpu::reference::Decoder decoder(model, 2);
    std::vector<float> logits(shape.vocabulary);
    for (const auto token : tokenizer->encode(prompt, false, tokenizer->adds_start())) decoder.step(token, logits);

    std::printf("%s", prompt.c_str());
    for (int count = 0; count < 8; ++count) {
      const auto token = static_cast<lpu::model::TokenId>(lpu::reference::top_token(logits));
      if (tokenizer->is_end(token)) break;
      std::printf("%s", tokenizer->token_bytes(token).c_str());
      decoder.step(token, logits);
    }
    std::printf("\n");
  } catch (const lpu::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
