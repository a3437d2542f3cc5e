// lpu_print_contract: prints the SystemVerilog package or the tables of docs/isa.md to standard output.
#include <cstdio>
#include <cstring>

#include "hls/contract/describe.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--package") == 0) {
    std::fputs(lpu::contract::systemverilog_package().c_str(), stdout);
  } else if (argc == 2 && std::strcmp(argv[1], "--isa") == 0) {
    std::fputs(lpu::contract::isa_tables().c_str(), stdout);
  } else if (argc == 2 && std::strcmp(argv[1], "--hash") == 0) {
    std::printf("%s\n", lpu::contract::contract_hash_text().c_str());
  } else {
    std::fputs("usage: lpu_print_contract --package | --isa | --hash\n", stderr);
    return 2;
  }
  return 0;
}
