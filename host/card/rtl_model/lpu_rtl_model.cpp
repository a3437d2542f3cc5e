// One Verilated core behind the C interface of api.hpp. Compiled once per configuration, into a library of its own.
// Relies on Verilator's class Vlpu_core, on the parameters as definitions (LPU_RTL_*), and on verilated.cpp being
// compiled with this file's print and stop functions instead of its own: a failed assertion is a text for the host and
// neither output nor the end of the process.
#include <Vlpu_core.h>
#include <verilated.h>
#include <verilated_syms.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "host/card/rtl_model/api.hpp"
#ifdef LPU_RTL_WAVEFORM
#include <verilated_fst_c.h>
#endif

namespace {

constexpr std::size_t kMostErrorText = 2000;
thread_local std::string* messages = nullptr;  // of the model at work

void say(const char* text) {
  if (messages != nullptr && messages->size() < kMostErrorText) *messages += text;
}

/// A port's bits as words. Ports of up to 64 bits are plain integers in Verilator's class, others arrays of words.
template <typename Port>
void copy(const Port& port, std::vector<std::uint32_t>& words) {
  if constexpr (sizeof(Port) <= 8) {
    const std::uint64_t value = port;
    words.assign({static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)});
  } else {
    words.resize(sizeof(Port) / 4);
    std::memcpy(words.data(), &port, sizeof(Port));
  }
}
template <typename Port>
bool any(const Port& port) {
  if constexpr (sizeof(Port) <= 8) {
    return port != 0;
  } else {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Port) / 4; ++i) bits |= port[i];
    return bits != 0;
  }
}

/// Number in the last pair of brackets of a scope's name, as "lpu_core.gen_group[3].u_memory".
std::uint32_t last_index(const std::string& name) {
  const std::size_t at = name.rfind('[');
  return at == std::string::npos ? 0 : static_cast<std::uint32_t>(std::strtoul(name.c_str() + at + 1, nullptr, 10));
}

struct Kind {
  const char* instance;  ///< part of the scope's name
  std::uint32_t region;
};
// Numbers as contract::Region; the model is compiled without the host's headers.
constexpr Kind kKinds[] = {{".u_lanes.", 0},   {".u_minimums.", 1}, {".u_exponent", 2},
                           {".u_constant", 3}, {".u_rope", 4},      {".u_blocks.u_blocks.", kLpuRtlActivations}};

std::uint32_t stride_of(std::uint32_t bits) {
  if (bits <= 8) return 1;
  if (bits <= 16) return 2;
  if (bits <= 32) return 4;
  if (bits <= 64) return 8;
  return (bits + 31) / 32 * 4;
}

}  // namespace

// Called by verilated.cpp instead of its own.
void lpu_rtl_print(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  say(text);
}
void vl_stop(const char*, int, const char*) { say(""); }
void vl_finish(const char*, int, const char*) {}
void vl_fatal(const char* file, int line, const char*, const char* message) {
  lpu_rtl_print("%s:%d: %s\n", file, line, message);
}

struct LpuRtlModel {
  VerilatedContext context;
  std::unique_ptr<Vlpu_core> core;
#ifdef LPU_RTL_WAVEFORM
  std::unique_ptr<VerilatedFstC> trace;
#endif
  std::string errors;
  std::vector<LpuRtlMemory> memories;
  std::uint64_t cycle = 0;  ///< that comes next
  LpuRtlOutputs out{};
  // [words of the port]
  std::vector<std::uint32_t> block_write, block_address, blocks, word_write, word_address, words, residual_lanes,
      residual, exponents, differences, inverses, sum_write, sums, logits_lanes, logits;

  LpuRtlModel() {
    messages = &errors;
    context.fatalOnError(false);
#ifdef LPU_RTL_WAVEFORM
    context.traceEverOn(true);
#endif
    core = std::make_unique<Vlpu_core>(&context, "");
    core->rst_ni = 0;
    core->clk_i = 0;
    core->eval();
    find_memories();
  }

  void find_memories() {
    for (const auto& [name, scope] : *context.scopeNameMap()) {
      const VerilatedVar* variable = scope->varFind("memory");
      if (variable == nullptr || variable->udims() != 1) continue;
      const std::string path = std::string(name) + ".";
      for (const Kind& kind : kKinds) {
        if (path.find(kind.instance) == std::string::npos) continue;
        LpuRtlMemory memory{};
        memory.region = kind.region;
        memory.part = last_index(path.substr(0, path.find(kind.instance)));
        memory.word_bits = static_cast<std::uint32_t>(variable->packed().elements());
        memory.stride_bytes = stride_of(memory.word_bits);
        memory.words = static_cast<std::uint64_t>(variable->unpacked().elements());
        // A deep lane memory is cut in two (rtl/memory/lpu_lane_memory.sv).
        if (path.find(".u_lanes.gen_cut.u_high.") != std::string::npos)
          memory.first_word = LPU_RTL_LaneWords - memory.words;
        memory.data = static_cast<std::uint8_t*>(variable->datap());
        memories.push_back(memory);
      }
    }
  }

  void edge(int level) {
    core->clk_i = static_cast<CData>(level);
    core->eval();
#ifdef LPU_RTL_WAVEFORM
    if (trace != nullptr) trace->dump(2 * cycle + static_cast<std::uint64_t>(level));
#endif
  }

  const LpuRtlOutputs* tick(const LpuRtlInputs& in) {
    messages = &errors;
    Vlpu_core& c = *core;
    c.host_write_i = in.write;
    c.host_read_i = in.read;
    c.host_address_i = in.address;
    c.host_data_i = in.data;
    out.cycle = cycle;
    edge(0);
    read_ports();
    edge(1);
    c.rst_ni = 1;
    ++cycle;
    return &out;
  }

  void read_ports() {
    const Vlpu_core& c = *core;
    out.host_valid = c.host_valid_o;
    out.host_data = c.host_data_o;
    out.token_start = c.monitor_token_start_o;
    out.beat = c.monitor_beat_o;
    const std::uint8_t issue[3] = {c.monitor_mvu_issue_o, c.monitor_vpu_issue_o, c.monitor_smx_issue_o};
    const std::uint32_t index[3] = {c.monitor_mvu_index_o, c.monitor_vpu_index_o, c.monitor_smx_index_o};
    std::memcpy(out.issue, issue, sizeof issue);
    std::memcpy(out.issue_index, index, sizeof index);
    if ((out.has_block = any(c.monitor_block_write_o))) {
      copy(c.monitor_block_write_o, block_write);
      copy(c.monitor_block_address_o, block_address);
      copy(c.monitor_blocks_o, blocks);
    }
    if ((out.has_word = any(c.monitor_word_write_o))) {
      copy(c.monitor_word_write_o, word_write);
      copy(c.monitor_word_address_o, word_address);
      copy(c.monitor_words_o, words);
    }
    if ((out.has_residual = any(c.monitor_residual_lanes_o))) {
      copy(c.monitor_residual_lanes_o, residual_lanes);
      copy(c.monitor_residual_o, residual);
      out.residual_row = c.monitor_residual_row_o;
    }
    if ((out.has_scale = c.monitor_scale_write_o)) {
      out.scale_register = c.monitor_scale_register_o;
      out.scale = c.monitor_scale_o;
    }
    if ((out.has_round = c.monitor_round_write_o)) {
      copy(c.monitor_exponents_o, exponents);
      copy(c.monitor_differences_o, differences);
      out.round = c.monitor_round_o;
    }
    if ((out.has_inverse = c.monitor_inverse_write_o)) {
      copy(c.monitor_inverses_o, inverses);
      out.inverse_round = c.monitor_inverse_round_o;
    }
    if ((out.has_sum = any(c.monitor_sum_write_o))) {
      copy(c.monitor_sum_write_o, sum_write);
      copy(c.monitor_sums_o, sums);
      out.sum_entry = c.monitor_sum_entry_o;
    }
    if ((out.has_logits = c.monitor_logits_valid_o)) {
      copy(c.monitor_logits_lanes_o, logits_lanes);
      copy(c.monitor_logits_o, logits);
      out.logits_row = c.monitor_logits_row_o;
    }
    out.has_next = c.monitor_next_write_o;
    out.next = c.monitor_next_o;
    // The vectors' places change when they grow.
    out.block_write = block_write.data();
    out.block_address = block_address.data();
    out.blocks = blocks.data();
    out.word_write = word_write.data();
    out.word_address = word_address.data();
    out.words = words.data();
    out.residual_lanes = residual_lanes.data();
    out.residual = residual.data();
    out.exponents = exponents.data();
    out.differences = differences.data();
    out.inverses = inverses.data();
    out.sum_write = sum_write.data();
    out.sums = sums.data();
    out.logits_lanes = logits_lanes.data();
    out.logits = logits.data();
  }
};

namespace {

LpuRtlModel* create() {
  try {
    return new LpuRtlModel;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void destroy(LpuRtlModel* model) {
  messages = nullptr;
  delete model;
}
std::uint32_t memories(LpuRtlModel* model, const LpuRtlMemory** first) {
  *first = model->memories.data();
  return static_cast<std::uint32_t>(model->memories.size());
}
const LpuRtlOutputs* tick(LpuRtlModel* model, const LpuRtlInputs* in) { return model->tick(*in); }
const char* error_text(LpuRtlModel* model) { return model->errors.c_str(); }
void clear_error_text(LpuRtlModel* model) { model->errors.clear(); }

int waveform([[maybe_unused]] LpuRtlModel* model, [[maybe_unused]] const char* path) {
#ifdef LPU_RTL_WAVEFORM
  messages = &model->errors;
  if (model->trace != nullptr) model->trace->close();
  model->trace.reset();
  if (path == nullptr) return 1;
  model->trace = std::make_unique<VerilatedFstC>();
  model->core->trace(model->trace.get(), 99);
  model->trace->open(path);
  if (model->trace->isOpen()) return 1;
  model->trace.reset();
#endif
  return 0;
}

constexpr LpuRtlFunctions kFunctions = {
    kLpuRtlApiVersion,
    {LPU_RTL_CONTRACT_HASH, LPU_RTL_NAME, LPU_RTL_Lanes, LPU_RTL_ColumnGroups, LPU_RTL_VectorLanes,
     LPU_RTL_SoftmaxLanes, LPU_RTL_HasMinimum, LPU_RTL_LaneWords, LPU_RTL_MinimumWords, LPU_RTL_AccumulatorEntries,
     LPU_RTL_ActivationBlocks, LPU_RTL_ResidualValues, LPU_RTL_ExponentWords, LPU_RTL_ConstantValues, LPU_RTL_RopePairs,
     LPU_RTL_ProgramInstructions, LPU_RTL_DelayEntries,
#ifdef LPU_RTL_WAVEFORM
     1
#else
     0
#endif
    },
    create,
    destroy,
    memories,
    tick,
    error_text,
    clear_error_text,
    waveform};

}  // namespace

extern "C" __attribute__((visibility("default"))) const LpuRtlFunctions* lpu_rtl_functions() { return &kFunctions; }
