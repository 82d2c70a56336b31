#include "src/base/nearest_word.h"

#include "gtest/gtest.h"

namespace profiler {
namespace {

const std::vector<std::string> kKnown = {"record", "report", "script", "flamegraph"};

TEST(NearestWordTest, FindsAWordWithFewEditsOrThisBeginning) {
  EXPECT_EQ(NearestWord("reprot", kKnown), "report");
  EXPECT_EQ(NearestWord("recrod", kKnown), "record");
  EXPECT_EQ(NearestWord("flame", kKnown), "flamegraph");
  EXPECT_EQ(NearestWord("scripts", kKnown), "script");
}

TEST(NearestWordTest, FindsNothingForADifferentWord) {
  for (const char* word : {"", "x", "re", "xyzzy", "flagpole"}) {
    EXPECT_EQ(NearestWord(word, kKnown), "") << word;
  }
  EXPECT_EQ(NearestWord(std::string(100'000, 'r'), kKnown), "");
}

// Words that users typed, and the known word of options, sort keys and commands that they meant.
TEST(NearestWordTest, MeansWhatAPersonWouldMean) {
  struct Case {
    const char* word;
    const char* meant;  // "": none of the words
  };
  const std::vector<std::string> known = {
      "--call-graph", "--cgroup", "--color", "--duration", "--freq",   "--sort", "annotate",
      "cgroup",       "comm",     "cpu",     "dso",        "overhead", "pid",    "script",
      "srcline",      "summary",  "symbol",  "thread",     "tid",      "weight"};
  const Case cases[] = {
      {"simbol", "symbol"},
      {"sybmol", "symbol"},
      {"symbols", "symbol"},
      {"ovrehead", "overhead"},
      {"sumary", "summary"},
      {"anotate", "annotate"},
      {"src_line", "srcline"},
      {"cpus", "cpu"},
      {"com", "comm"},
      {"--callgraph", "--call-graph"},
      {"--colour", "--color"},
      {"--frequency", "--freq"},
      {"--durration", "--duration"},
      {"--sotr", "--sort"},
      {"--short", "--sort"},
      {"colour", ""},
      {"group", "cgroup"},
      {"time", ""},
      {"tree", ""},
      {"dos", "dso"},
      {"xyz", ""},
      {"process", ""},
      {"socket", ""},
      {"heigth", "weight"},
      {"lost", ""},
      {"command", "comm"},
      {"ip", ""},
  };
  for (const Case& one : cases) EXPECT_EQ(NearestWord(one.word, known), one.meant) << one.word;
}

TEST(NearestWordTest, AsksOnlyIfAWordIsNear) {
  EXPECT_EQ(DidYouMean("reprot", kKnown), "; did you mean 'report'?");
  EXPECT_EQ(DidYouMean("xyzzy", kKnown), "");
}

}  // namespace
}  // namespace profiler
