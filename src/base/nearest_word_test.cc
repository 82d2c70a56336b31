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

TEST(NearestWordTest, AsksOnlyIfAWordIsNear) {
  EXPECT_EQ(DidYouMean("reprot", kKnown), "; did you mean 'report'?");
  EXPECT_EQ(DidYouMean("xyzzy", kKnown), "");
}

}  // namespace
}  // namespace profiler
