// What a cosimulation must have found when nothing differs. Relies on host/cosim.
#pragma once

#include <gtest/gtest.h>

#include "host/cosim/lockstep.hpp"

namespace lpu::test {

/// So many tokens, no difference, every token in its predicted cycles; names the first mismatch otherwise.
inline void expect_no_difference(const cosim::Report& report, std::uint64_t tokens) {
  EXPECT_EQ(report.tokens, tokens);
  EXPECT_EQ(report.differing_values, 0u);
  EXPECT_EQ(report.differing_cycles, 0u);
  EXPECT_EQ(report.predicted_cycles, report.measured_cycles);
  if (!report.first_mismatch) return;
  const cosim::Finding& finding = *report.first_mismatch;
  ADD_FAILURE() << finding.mismatch.what << " of " << finding.place << ", token " << finding.token << ", instruction "
                << finding.program_counter.value_or(0) << " " << finding.opcode << " " << finding.matrix << " element "
                << finding.mismatch.element << ": expected " << finding.mismatch.expected << ", got "
                << finding.mismatch.got << "; cycle expected " << finding.mismatch.cycle_expected.value_or(0)
                << ", got " << finding.mismatch.cycle_got.value_or(0);
}

}  // namespace lpu::test
