#include "src/views/report/options.h"

#include <vector>

#include "gtest/gtest.h"

namespace profiler::report {
namespace {

TEST(OptionsTest, CallGraphWordsComeInAnyOrder) {
  const auto options = ParseCallGraph("callee,fractal,2.5,count,10");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->type, CallGraphType::kFractal);
  EXPECT_EQ(options->threshold, 2.5);
  EXPECT_EQ(options->order, ChainOrder::kCallee);
  EXPECT_EQ(options->value, ChainValue::kCount);
  EXPECT_EQ(options->print_limit, 10u);
}

TEST(OptionsTest, AnEmptyCallGraphOptionLeavesEverythingOpen) {
  const auto options = ParseCallGraph("");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->type, CallGraphType::kGraph);
  EXPECT_FALSE(options->threshold.has_value());
  EXPECT_FALSE(options->order.has_value());
}

TEST(OptionsTest, WhatIsNoCallGraphOptionIsNamed) {
  for (const char* text : {"tree", "graph,-1", "graph,101", "1,2,3", "1,2.5", "nan"}) {
    EXPECT_FALSE(ParseCallGraph(text).ok()) << text;
  }
  EXPECT_NE(ParseCallGraph("graph,tree").status().message().find("'tree'"), std::string::npos);
}

}  // namespace
}  // namespace profiler::report
