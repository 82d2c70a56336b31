#include "symbolize/unwind/chain_tally.h"

#include "gtest/gtest.h"

namespace profiler::symbolize {
namespace {

std::string PathOf(uint32_t image) { return image == 1 ? "/bin/one" : "/bin/other"; }

UnwoundChain Chain(ChainEnd end, uint32_t image, uint32_t guessed = 0) {
  UnwoundChain chain;
  chain.end = end;
  chain.end_image = image;
  chain.guessed = guessed;
  return chain;
}

TEST(ChainTallyTest, TheLeastCertainWayDecides) {
  ChainTally tally;
  tally.Count(Chain(ChainEnd::kThreadStart, 1));
  tally.Count(Chain(ChainEnd::kThreadStart, 1, 2));
  tally.CountLateRead(false);
  tally.CountLateRead(true);
  EXPECT_EQ(tally.Quality(PathOf),
            (ChainQuality{.complete = 1, .late_read = 1, .guessed = 2, .cuts = {}}));
}

TEST(ChainTallyTest, CutsAreByReasonAndPathTheMostFrequentFirst) {
  ChainTally tally;
  tally.Count(Chain(ChainEnd::kNoImage, 1));
  tally.Count(Chain(ChainEnd::kNoImage, 2));
  tally.Count(Chain(ChainEnd::kNoCfi, 1));
  for (const uint32_t image : {2, 3, 4}) tally.Count(Chain(ChainEnd::kStackTooShort, image));
  const ChainQuality quality = tally.Quality(PathOf);
  ASSERT_EQ(quality.cuts.size(), 3u);
  EXPECT_EQ(quality.cuts[0], (ChainQuality::Cut{3, "stack too short", "/bin/other"}));
  EXPECT_EQ(quality.cuts[1], (ChainQuality::Cut{2, "no image", ""}));
  EXPECT_EQ(quality.cuts[2], (ChainQuality::Cut{1, "no call frame information", "/bin/one"}));
  EXPECT_EQ(quality.cut(), 6u);
  EXPECT_EQ(quality.whole(), 0u);
}

TEST(ChainTallyTest, AStackThatWasNotCopiedAsAskedIsAReasonOfItsOwn) {
  ChainTally tally;
  tally.Count(Chain(ChainEnd::kStackTooShort, 1), /*copied_short=*/true);
  tally.Count(Chain(ChainEnd::kStackTooShort, 1), /*copied_short=*/false);
  tally.Count(Chain(ChainEnd::kNoCfi, 1), /*copied_short=*/true);
  tally.Count(Chain(ChainEnd::kThreadStart, 1), /*copied_short=*/true);
  const ChainQuality quality = tally.Quality(PathOf);
  EXPECT_EQ(quality.complete, 1u);
  EXPECT_EQ(quality.cuts,
            (std::vector<ChainQuality::Cut>{{1, "no call frame information", "/bin/one"},
                                            {1, "stack copied short", "/bin/one"},
                                            {1, "stack too short", "/bin/one"}}));
}

}  // namespace
}  // namespace profiler::symbolize
