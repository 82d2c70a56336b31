#include "src/report/options.h"

#include <vector>

#include "gtest/gtest.h"

namespace profiler::report {
namespace {

TEST(OptionsTest, SortKeysAreReadInOrder) {
  const auto keys = ParseSortKeys("pid,comm,,dso,sym,symbol,cpu,tid,tgid");
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(*keys, (std::vector{SortKey::kPid, SortKey::kComm, SortKey::kDso, SortKey::kSymbol,
                                SortKey::kSymbol, SortKey::kCpu, SortKey::kTid, SortKey::kTgid}));
}

TEST(OptionsTest, KeysOfBranchesAreKnownFromThoseOfSamples) {
  const auto keys = ParseSortKeys("comm,dso_from,symbol_to,mispredict,cpu");
  ASSERT_TRUE(keys.ok());
  std::string branch, both;
  for (const SortKey key : *keys) {
    branch += IsOfBranch(key) ? '1' : '0';
    both += TellsBranches(key) ? '1' : '0';
  }
  EXPECT_EQ(branch, "01110");
  EXPECT_EQ(both, "11110");
}

TEST(OptionsTest, AnUnknownSortKeyIsNamed) {
  EXPECT_EQ(ParseSortKeys("comm,colour").status().message(),
            "unknown sort key 'colour': use pid, tid, tgid, comm, dso, symbol, srcline, "
            "srcfile, symoff, cpu or parallelism, and of branches symbol_from, symbol_to, "
            "dso_from, dso_to, "
            "mispredict or cycles");
  EXPECT_FALSE(ParseSortKeys("").ok());
}

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
