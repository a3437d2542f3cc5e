// Where the coverage counts of every Verilated model in a process come together, and how they leave it: at exit they
// are written as a new file into $OPENLPU_COVERAGE_DIR, nowhere without it. Part of builds with OPENLPU_RTL_COVERAGE
// only. Relies on keep_counts.sh for calls of lpu_coverage(), on verilated_cov.cpp for the file's format.
#include <errno.h>
#include <unistd.h>
#include <verilated.h>
#include <verilated_cov.h>

#include <cstdlib>
#include <string>

namespace {

VerilatedContext* collection = nullptr;  // never destroyed: counts are written when everything else may be gone

void write_counts() {
  const char* const folder = std::getenv("OPENLPU_COVERAGE_DIR");
  if (folder == nullptr) return;
  const std::string begin = std::string(folder) + "/" + program_invocation_short_name + "-" + std::to_string(getpid());
  std::string name;
  // A process may have several collections: the program's own and one in each core that it loads.
  for (int i = 0; name.empty() || access(name.c_str(), F_OK) == 0; ++i) name = begin + "-" + std::to_string(i) + ".dat";
  collection->coveragep()->write(name.c_str());
}

}  // namespace

VerilatedCovContext* lpu_coverage() {
  if (collection == nullptr) {
    collection = new VerilatedContext;
    std::atexit(write_counts);
  }
  return collection->coveragep();
}
