// See compiled.hpp.
#include "tests/exactness/compiled.hpp"

#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>

namespace lpu::test {

namespace {

std::filesystem::path temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "openlpu-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
  return name;
}

}  // namespace

Compiled::Compiled(const std::filesystem::path& model, const CompileFor& how) : folder_(temporary_folder()) {
  compiler::CompileOptions options;
  options.hardware = compiler::find_hardware(how.hardware);
  options.hardware_name = how.hardware;
  options.context_tokens = how.context_tokens;
  options.kv_bits = how.kv_bits;
  options.order_seed = how.order_seed;
  report_ = compiler::compile(*model::Model::open(model), options, folder_ / "bundle", std::nullopt);
  bundle_ = std::make_unique<bundle::Bundle>(bundle::Bundle::open(folder_ / "bundle"));
}

Compiled::~Compiled() {
  bundle_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::unique_ptr<golden::Machine> Compiled::machine(unsigned threads) const {
  return std::make_unique<golden::Machine>(bundle_->hardware(), bundle_->shape(), bundle_->program(), bundle_->image(),
                                           threads);
}

std::uint32_t Compiled::predicted(std::uint32_t position, bool with_head) const {
  const contract::Program& program = bundle_->program();
  return (with_head ? program.cycles_with_head : program.cycles_without_head)[position / contract::kBlockValues];
}

std::vector<float> run_tokens(golden::Machine& machine, const std::vector<std::int32_t>& tokens,
                              std::uint32_t vocabulary) {
  std::vector<float> logits(tokens.size() * vocabulary);
  for (std::uint32_t position = 0; position < tokens.size(); ++position) {
    golden::StepOptions options;
    options.logits = logits.data() + std::size_t{position} * vocabulary;
    machine.step(tokens[position], position, options);
  }
  return logits;
}

std::vector<std::int32_t> random_tokens(std::size_t count, std::uint32_t vocabulary, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> tokens(count);
  for (std::int32_t& token : tokens) token = static_cast<std::int32_t>(random() % vocabulary);
  return tokens;
}

std::uint64_t hash_of(const std::vector<float>& logits) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float logit : logits) {
    std::uint32_t bits;
    std::memcpy(&bits, &logit, sizeof bits);
    for (int i = 0; i < 4; ++i) hash = (hash ^ (bits >> (8 * i) & 255)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace lpu::test
