// The contract as text: the SystemVerilog package, the tables of docs/isa.md, and the hash that ties bundles to cards.
// Relies on every other header of this folder; everything printed comes from their typed constants.
#pragma once

#include <cstdint>
#include <string>

#include "hls/contract/hardware_config.hpp"

namespace lpu {
namespace contract {

/// rtl/lpu_pkg.sv, whole.
std::string systemverilog_package();
/// The generated part of docs/isa.md: instruction, loop and latency tables in Markdown.
std::string isa_tables();
/// FNV-1a (64 bits) over systemverilog_package() without its hash line: changes when anything of the contract changes.
std::uint64_t contract_hash();
/// contract_hash() as 16 hexadecimal digits.
std::string contract_hash_text();
/// The configuration of this name, or nullptr.
const HardwareConfig* find_hardware(const std::string& name);

}  // namespace contract
}  // namespace lpu
