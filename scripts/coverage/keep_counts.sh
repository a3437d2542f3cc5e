#!/bin/sh
# Rewrites the C++ that Verilator made in FOLDER so that coverage counts outlive the models: by default each model has
# its own, which are gone before a test program ends. Every count becomes a plain number of the whole process, is made
# known once, and goes to the collection of rtl_coverage.cpp. What runs once only isn't worth optimising: with counts it
# is most of the compiler's work.
#   keep_counts.sh FOLDER
# Relies on what Verilator 5 writes; where it writes something else, the build fails or has no counts.
set -eu
cd "$1"
sed -i \
  -e 's/std::atomic<uint32_t> __Vcoverage\[/static inline uint32_t __Vcoverage[/' \
  -e 's/std::atomic<uint32_t>/uint32_t/g' \
  -e 's/\.fetch_add(1, std::memory_order_relaxed)/ += 1/' \
  -e 's/^ *\*count32p = 0;$/    VerilatedCovContext* lpu_coverage();/' \
  -e 's/vlSymsp->_vm_contextp__->coveragep()/lpu_coverage()/' \
  -e 's/^ *\(V.*___configure_coverage(this, first)\);$/    static const bool told = (\1, true); (void)told;/' \
  V*.h V*.cpp
for file in V*__Slow.cpp; do
  awk '
    /^#include/ && !begun { print; next }
    !begun && NF && !/^\/\// { print "#pragma GCC push_options\n#pragma GCC optimize (\"O0\")"; begun = 1 }
    { print }
    END { if (begun) print "#pragma GCC pop_options" }' "$file" >"$file.new"
  mv "$file.new" "$file"
done
