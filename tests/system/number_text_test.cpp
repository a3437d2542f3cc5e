// Numbers as the program prints them.
#include "host/base/number_text.hpp"

#include <gtest/gtest.h>

namespace lpu::test {
namespace {

TEST(NumberText, DigitsAreGroupedByThree) {
  EXPECT_EQ(grouped_text(0), "0");
  EXPECT_EQ(grouped_text(999), "999");
  EXPECT_EQ(grouped_text(1000), "1,000");
  EXPECT_EQ(grouped_text(98362432), "98,362,432");
}

TEST(NumberText, BytesHaveThreeDigitsAndADecimalUnit) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(98362432), "98.4 MB");
  EXPECT_EQ(bytes_text(999600), "1.00 MB");
  EXPECT_EQ(bytes_text(7247757312), "7.25 GB");
}

TEST(NumberText, SecondsHaveThreeDigitsAndAUnitThatFits) {
  EXPECT_EQ(seconds_text(12.34), "12.3 s");
  EXPECT_EQ(seconds_text(0.0000721), "72.1 µs");
  EXPECT_EQ(seconds_text(0.00175), "1.75 ms");
  EXPECT_EQ(seconds_text(5e-9), "5.00 ns");
}

TEST(NumberText, SharesArePercentages) {
  EXPECT_EQ(percent_text(0.7484), "74.8 %");
  EXPECT_EQ(percent_text(1), "100.0 %");
}

}  // namespace
}  // namespace lpu::test
