// `lpu inspect`: what a model file holds, and whether it can be compiled. Relies on host/model.
#include <map>
#include <memory>
#include <optional>

#include "host/base/number_text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/console.hpp"
#include "host/model/chat_template.hpp"
#include "host/model/model.hpp"
#include "host/model/tokenizer.hpp"

namespace lpu::cli {
namespace {

struct Options {
  std::string model;
  bool json = false;
};

struct TypeUse {
  std::uint64_t tensors = 0;
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;
  bool is_supported = true;
};

std::map<std::string, TypeUse> types_of(const model::GgufFile& file) {
  std::map<std::string, TypeUse> types;
  for (const model::Tensor& tensor : file.tensors()) {
    TypeUse& use = types[model::type_name(tensor.raw_type)];
    std::uint64_t values = 1;
    for (const std::uint64_t extent : tensor.shape) values *= extent;
    ++use.tensors;
    use.values += values;
    use.bytes += tensor.data.size();
    use.is_supported = tensor.is_supported();
  }
  return types;
}

/// Runs `work`; an error of the file becomes one of the reasons why it isn't supported.
template <typename Work>
void attempt(std::vector<std::string>& reasons, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadInput) throw;
    reasons.emplace_back(error.what());
  }
}

Json describe(const std::string& path) {
  const model::GgufFile file(path);
  std::vector<std::string> reasons;
  Json out = {{"file", path}, {"file_bytes", file.size_bytes()}, {"gguf_version", file.version()}};
  const std::string* architecture = nullptr;
  attempt(reasons, [&] { architecture = file.find_string("general.architecture"); });
  out["architecture"] = architecture == nullptr ? Json(nullptr) : Json(*architecture);
  out["name"] = nullptr;
  out["shape"] = nullptr;
  attempt(reasons, [&] {
    const std::shared_ptr<const model::Model> model = model::Model::open(path);
    const model::Hyperparameters& shape = model->shape();
    out["name"] = shape.name;
    out["shape"] = {{"layers", shape.layers},         {"width", shape.width},
                    {"heads", shape.heads},           {"kv_heads", shape.kv_heads},
                    {"head_size", shape.head_size},   {"ffn_width", shape.ffn_width},
                    {"vocabulary", shape.vocabulary}, {"context_limit_tokens", shape.context_limit_tokens},
                    {"rope_base", shape.rope_base},   {"tied_head", shape.tied_head},
                    {"qkv_bias", shape.qkv_bias}};
  });
  Json types = Json::array();
  for (const auto& [name, use] : types_of(file)) {
    types.push_back({{"type", name},
                     {"tensors", use.tensors},
                     {"values", use.values},
                     {"bytes", use.bytes},
                     {"supported", use.is_supported}});
  }
  out["tensor_types"] = types;
  out["tokenizer"] = nullptr;
  out["adds_start"] = nullptr;
  attempt(reasons, [&] {
    const std::unique_ptr<model::Tokenizer> tokenizer = model::Tokenizer::from(file);
    out["tokenizer"] = tokenizer->kind();
    out["adds_start"] = tokenizer->adds_start();
  });
  out["chat_template"] = nullptr;
  attempt(reasons, [&] {
    if (const std::string* jinja = file.find_string("tokenizer.chat_template")) {
      const std::optional<model::ChatTemplate> found = model::recognise_chat_template(*jinja);
      out["chat_template"] = found ? std::string(model::name_of(*found)) : "unknown";
    }
  });
  out["supported"] = reasons.empty();
  out["unsupported"] = reasons;
  return out;
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void print(const Json& out) {
  std::string text =
      fmt::format("{}: GGUF version {}, {} ({} bytes)\n", text_of(out["file"]), text_of(out["gguf_version"]),
                  bytes_text(out["file_bytes"]), grouped_text(out["file_bytes"]));
  text += fmt::format("architecture {}, name {}\n", text_of(out["architecture"]), text_of(out["name"]));
  if (!out["shape"].is_null()) {
    text += "\n";
    Table shape({"shape", ""});
    for (const auto& [key, value] : out["shape"].items()) shape.add({"  " + key, text_of(value)});
    text += shape.text();
  }
  text += "\n";
  Table types({"tensor type", "tensors", "values", "bytes", ""});
  for (const Json& type : out["tensor_types"]) {
    const bool supported = type["supported"];
    types.add({"  " + text_of(type["type"]), grouped_text(type["tensors"]), grouped_text(type["values"]),
               supported ? grouped_text(type["bytes"]) : "?", supported ? "" : "not supported"});
  }
  text += types.text();
  const std::string chat = text_of(out["chat_template"]);
  text +=
      fmt::format("\ntokenizer      {}\nstart token    {}\nchat template  {}\n", text_of(out["tokenizer"]),
                  text_of(out["adds_start"]), chat == "unknown" ? "not recognised: name one with --template" : chat);
  if (out["supported"]) {
    text += "\nSupported: `lpu compile` reads this model.\n";
  } else {
    text += "\nNot supported:\n";
    for (const Json& reason : out["unsupported"]) text += "  " + reason.get<std::string>() + "\n";
  }
  put_out(text);
}

}  // namespace

void add_inspect(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("inspect", "Tell what a model file holds, and whether it can be compiled");
  const auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, "The model, a GGUF file")->required();
  command->add_flag("--json", options->json, "Print JSON (keys: docs/json.md)");
  command->footer(
      "Shows architecture, shapes, tensor types and their bytes, tokenizer and chat template; says what isn't "
      "supported and why.\n"
      "Ends with 0 for a model that can be compiled, with 3 for another.\n\n"
      "Example:\n  lpu inspect SmolLM2-135M-Instruct.Q4_1.gguf\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      const Json out = describe(options->model);
      if (options->json) {
        put_json(out);
      } else {
        print(out);
      }
      return out["supported"].get<bool>() ? ExitCode::kSuccess : ExitCode::kBadInput;
    };
  });
}

}  // namespace lpu::cli
