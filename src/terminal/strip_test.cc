#include "src/terminal/strip.h"

#include <vector>

#include "gtest/gtest.h"

namespace profiler::terminal {
namespace {

TEST(Strip, ShowsValuesAsBars) {
  const std::vector<double> values = {0, 0.01, 4, 8, 9};
  EXPECT_EQ(StripOf(values, 8), " ▁▄██");
  EXPECT_EQ(StripOf(values, 0), "     ");
}

}  // namespace
}  // namespace profiler::terminal
