// Generates text with the installed library: compiles a model for a card, opens the golden card and runs a session.
// Relies on nothing but find_package(OpenLPU).
//   example MODEL.gguf NEW_BUNDLE_FOLDER
#include <cstdio>
#include <string>

#include "host/base/error.hpp"
#include "host/card/card.hpp"
#include "host/compiler/compiler.hpp"
#include "host/runtime/session.hpp"
#include "host/runtime/text_model.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: example MODEL.gguf NEW_BUNDLE_FOLDER\n");
    return static_cast<int>(lpu::ExitCode::kUsage);
  }
  try {
    const auto model = lpu::model::Model::open(argv[1]);
    std::printf("%s: %u layers of width %u\n", model->shape().name.c_str(), model->shape().layers,
                model->shape().width);

    lpu::compiler::CompileOptions wanted;
    wanted.hardware_name = "virtual";
    wanted.hardware = lpu::compiler::find_hardware(wanted.hardware_name);
    wanted.context_tokens = 64;
    lpu::compiler::compile(*model, wanted, argv[2], {});

    const auto bundle = lpu::bundle::Bundle::open(argv[2]);
    const lpu::runtime::TextModel text(bundle);
    const auto card = lpu::card::open_card("golden", bundle, {});
    lpu::runtime::Session session(*card, bundle);

    const std::string prompt = "The capital of France is";
    lpu::runtime::GenerateOptions options;
    options.max_tokens = 8;
    const auto generation = session.generate(text.tokenizer().encode(prompt, false, true), options);
    std::printf("%s%s\n", prompt.c_str(), text.tokenizer().decode(generation.tokens).c_str());
    std::printf("%zu tokens; the first step took %llu cycles\n", generation.tokens.size(),
                static_cast<unsigned long long>(generation.measured_cycles.front()));
  } catch (const lpu::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
