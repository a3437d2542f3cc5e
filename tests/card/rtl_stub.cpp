// A library with the entry of an RTL model and nothing behind it, for tests of what the host says of a library that
// isn't the one it needs. It says of itself what the environment says: LPU_STUB_NAME, LPU_STUB_VERSION,
// LPU_STUB_CONTRACT. Relies on host/card/rtl_model/api.hpp.
#include <cstdlib>

#include "host/card/rtl_model/api.hpp"

extern "C" __attribute__((visibility("default"))) const LpuRtlFunctions* lpu_rtl_functions() {
  static LpuRtlFunctions functions{};
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  };
  functions.version = static_cast<std::uint32_t>(number("LPU_STUB_VERSION"));
  functions.parameters.contract_hash = number("LPU_STUB_CONTRACT");
  functions.parameters.name = std::getenv("LPU_STUB_NAME");
  return &functions;
}
