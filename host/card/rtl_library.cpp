// See rtl_library.hpp.
#include "host/card/rtl_library.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "hls/contract/describe.hpp"
#include "host/base/error.hpp"

namespace lpu::card {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMostLoops = 256;               ///< that the sequencer holds
constexpr std::uint32_t kMostContextTokens = 1U << 16;  ///< positions are numbers of 16 bits
constexpr int kMostLanes = 64;

std::string build_command(const std::string& name, bool with_waveform) {
  return fmt::format("scripts/build.sh --target rtl-{}{}", name, with_waveform ? "-trace" : "");
}

/// False for a file that ends before its own section table: the loader maps such a file and dies of it (SIGBUS).
bool is_whole(const fs::path& path) {
  Elf64_Ehdr header;
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(path, failure);
  std::ifstream file(path, std::ios::binary);
  if (failure || !file.read(reinterpret_cast<char*>(&header), sizeof header)) return true;  // dlopen() says why
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return true;
  const std::uintmax_t table = std::uintmax_t{header.e_shentsize} * header.e_shnum;
  return header.e_shoff <= bytes && table <= bytes - header.e_shoff;
}

std::string known_names() {
  std::string names;
  for (const contract::HardwareConfig& config : contract::kHardwareConfigs)
    names += (names.empty() ? "" : ", ") + std::string(config.name);
  return names;
}

/// A model is built for a named configuration as it is: not for a FILE.json's machine, nor for NAME:LANESxGROUPS.
void refuse_unnamed(const bundle::Bundle& bundle) {
  const contract::HardwareConfig& c = bundle.hardware();
  const contract::HardwareConfig* const named = contract::find_hardware(c.name);
  std::string own = fmt::format("{} lanes x {} groups", c.lanes, c.column_groups);
  if (named != nullptr && named->lanes == c.lanes && named->column_groups == c.column_groups) {
    // As NAME:LANESxGROUPS with the lanes and groups of NAME may have: what follows from the array is derived anew.
    own.clear();
    const auto compare = [&](const char* field, int found, int wanted) {
      if (own.empty() && found != wanted) own = fmt::format("{} {}, where \"{}\" has {}", field, found, c.name, wanted);
    };
    compare("vector_lanes", c.vector_lanes, named->vector_lanes);
    compare("softmax_lanes", c.softmax_lanes, named->softmax_lanes);
    compare("has_minimum", c.has_minimum ? 1 : 0, named->has_minimum ? 1 : 0);
    compare("accumulator_entries", c.accumulator_entries, named->accumulator_entries);
    if (own.empty()) return;
  }
  fail(ExitCode::kBadInput,
       "The bundle is for a machine of its own ({}), and the RTL model exists for named configurations only; compile "
       "the model for one of them ({}), not for a FILE.json or with LANESxGROUPS.",
       own, known_names());
}

/// Where the library was looked for, for the sentence that it isn't there.
std::string searched_text() {
  const char* const path = std::getenv("OPENLPU_RTL_PATH");
  if (path == nullptr || *path == '\0')
    return "neither beside this program nor in ../lib; OPENLPU_RTL_PATH, which can name other folders, isn't set";
  return fmt::format("neither in OPENLPU_RTL_PATH ({}) nor beside this program nor in ../lib", path);
}

struct Need {
  const char* what;
  std::uint64_t needed;
  std::int64_t held;
};

}  // namespace

std::vector<fs::path> rtl_library_folders() {
  std::vector<fs::path> folders;
  if (const char* path = std::getenv("OPENLPU_RTL_PATH"); path != nullptr) {
    const std::string text = path;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(':', at), text.size());
      if (end != at) folders.emplace_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  std::error_code ignored;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", ignored); !program.empty()) {
    folders.push_back(program.parent_path());
    folders.push_back(program.parent_path().parent_path() / "lib");
  }
  return folders;
}

std::string rtl_misfit(const LpuRtlParameters& model, const bundle::Bundle& bundle) {
  const contract::HardwareConfig& c = bundle.hardware();
  const contract::MemoryImage image = bundle.image();
  const contract::Program& program = bundle.program();
  if (c.lanes > kMostLanes) return fmt::format("the RTL has at most {} lanes, this machine {}", kMostLanes, c.lanes);
  if (model.lanes != c.lanes || model.column_groups != c.column_groups || model.vector_lanes != c.vector_lanes ||
      model.softmax_lanes != c.softmax_lanes || (model.has_minimum != 0) != c.has_minimum ||
      model.accumulator_entries != c.accumulator_entries)
    return fmt::format(
        "the bundle is for {} lanes x {} groups with {} vector lanes, {} softmax lanes and {} accumulators, the model "
        "has {} x {} with {}, {} and {}",
        c.lanes, c.column_groups, c.vector_lanes, c.softmax_lanes, c.accumulator_entries, model.lanes,
        model.column_groups, model.vector_lanes, model.softmax_lanes, model.accumulator_entries);
  const Need needs[] = {
      {"lane words", image.lane_word_count + image.kv_word_count, model.lane_words},
      {"minimum words", image.minimum_word_count, model.minimum_words},
      {"activation blocks", static_cast<std::uint64_t>(c.activation_blocks), model.activation_blocks},
      {"residual values", bundle.shape().width, model.residual_values},
      {"exponent words", image.exponent_word_count, model.exponent_words},
      {"constants", image.constant_count, model.constant_values},
      {"RoPE pairs", image.rope_pair_count, model.rope_pairs},
      {"instructions", program.instructions.size(), model.program_instructions},
      {"loops", program.loops.size(), kMostLoops},
      {"delay entries", program.delays.size() + 2 * std::size_t{program.length_steps}, model.delay_entries},
      {"context tokens", bundle.shape().context_tokens, kMostContextTokens}};
  for (const Need& need : needs)
    if (need.needed > static_cast<std::uint64_t>(need.held))
      return fmt::format("the bundle needs {} {}, the simulated model holds {}", need.needed, need.what, need.held);
  return "";
}

RtlLibrary RtlLibrary::open(const bundle::Bundle& bundle, bool with_waveform) {
  refuse_unnamed(bundle);
  const std::string name = bundle.hardware().name;
  const std::string file = fmt::format("liblpu_rtl_{}{}.so", name, with_waveform ? "_trace" : "");
  const std::vector<fs::path> folders = rtl_library_folders();
  const auto found = std::find_if(folders.begin(), folders.end(), [&](const fs::path& folder) {
    std::error_code unreadable;  // a folder that can't be looked into holds nothing
    return fs::exists(folder / file, unreadable);
  });
  if (found == folders.end())
    fail(ExitCode::kIo, "The RTL model of \"{}\" isn't built ({} is {}); build it: {}", name, file, searched_text(),
         build_command(name, with_waveform));
  const fs::path path = *found / file;
  if (std::error_code failure; !fs::is_regular_file(path, failure))  // a pipe, say: opening it would wait for ever
    fail(ExitCode::kBadInput, "The RTL model {} isn't a file; build it: {}", path.string(),
         build_command(name, with_waveform));
  if (!is_whole(path))
    fail(ExitCode::kBadInput, "The RTL model {} is cut short; build it again: {}", path.string(),
         build_command(name, with_waveform));
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    fail(ExitCode::kBadInput, "The RTL model can't be loaded ({}); build it again: {}", ::dlerror(),
         build_command(name, with_waveform));
  RtlLibrary library(handle, nullptr);
  const std::string command = build_command(name, with_waveform);
  void* const symbol = ::dlsym(handle, kLpuRtlEntryName);
  library.functions_ = symbol != nullptr ? reinterpret_cast<LpuRtlEntry>(symbol)() : nullptr;
  if (library.functions_ == nullptr)
    fail(ExitCode::kBadInput, "{} is a library, but no RTL model of OpenLPU; move it away, and build the model: {}",
         path.string(), command);
  if (library.functions_->version != kLpuRtlApiVersion ||
      library.parameters().contract_hash != contract::contract_hash())
    fail(ExitCode::kCard, "{} was built for another version of this program; build it again: {}", path.string(),
         command);
  if (name != library.parameters().name)
    fail(ExitCode::kBadInput, "{} is the RTL model of \"{}\", but the bundle needs that of \"{}\"; build it: {}",
         path.string(), library.parameters().name, name, command);
  if (with_waveform && library.parameters().has_waveform == 0)
    fail(ExitCode::kBadInput, "{} is an RTL model that records no waveforms; build the one that does: {}",
         path.string(), command);
  if (const std::string misfit = rtl_misfit(library.parameters(), bundle); !misfit.empty())
    fail(ExitCode::kDoesNotFit,
         "The RTL model of \"{}\" can't run this bundle: {}. Compile a smaller model, or with a shorter --context.",
         name, misfit);
  return library;
}

RtlLibrary::~RtlLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

RtlLibrary::RtlLibrary(RtlLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), functions_(std::exchange(other.functions_, nullptr)) {}

}  // namespace lpu::card
