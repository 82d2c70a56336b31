#include "src/report/chains.h"

#include "gtest/gtest.h"

namespace profiler::report {
namespace {

ChainQuality Some() {
  return {.complete = 900,
          .joined = 50,
          .late_read = 0,
          .guessed = 40,
          .cuts = {{7, "stack too short", "/usr/bin/g++"}, {3, "no image", ""}}};
}

TEST(ChainsTest, OneLineSaysHowManyAreWhole) {
  EXPECT_EQ(ChainsLine(Some()),
            "# Call chains: 99.00% of 1000 are whole (50 joined, 40 guessed), 10 cut\n");
  EXPECT_EQ(ChainsLine({.complete = 4, .cuts = {}}), "# Call chains: 100.00% of 4 are whole\n");
  EXPECT_EQ(ChainsLine(ChainQuality{}), "");
}

TEST(ChainsTest, TellsWhereChainsAreCutAndWhatMendsThem) {
  EXPECT_EQ(
      FormatChains(Some()),
      "# Call chains: 99.00% of 1000 are whole (50 joined, 40 guessed), 10 cut\n"
      "#\n"
      "#   Chains    Share\n"
      "# ........  .......\n"
      "#\n"
      "       900   90.00%  whole, by call frame information\n"
      "        50    5.00%  whole, joined with an earlier chain of the thread\n"
      "         0    0.00%  whole, the outer part read from the process afterwards\n"
      "        40    4.00%  whole, with frames guessed by frame pointers or the code at hand\n"
      "         7    0.70%  cut: stack too short in /usr/bin/g++\n"
      "                       copy more of the stack: --call-graph dwarf,65528\n"
      "         3    0.30%  cut: no image\n"
      "                       code outside of all files (JIT): let it keep frame pointers\n");
}

TEST(ChainsTest, AdvisesToCopyMoreOnlyWhereThereIsMoreToCopy) {
  const ChainQuality chains{.complete = 9, .cuts = {{1, "stack copied short", "/bin/deep"}}};
  const std::string text = FormatChains(chains);
  EXPECT_NE(text.find("  10.00%  cut: stack copied short in /bin/deep\n"
                      "                       its memory ended there, or the record was full: "
                      "asking for more does not help\n"),
            std::string::npos);
  EXPECT_EQ(text.find("65528"), std::string::npos);
}

TEST(ChainsTest, SamplesWithoutAUserStackCountApart) {
  const ChainQuality chains{.complete = 4, .no_stack = 3, .cuts = {}};
  EXPECT_EQ(ChainsLine(chains),
            "# Call chains: 100.00% of 4 are whole; 3 more had no user stack (exec or exit)\n");
  EXPECT_NE(FormatChains(chains).find("         3        -  not counted: no user stack"),
            std::string::npos);
  EXPECT_EQ(ChainsLine({.no_stack = 3, .cuts = {}}),
            "# Call chains: none; 3 more had no user stack (exec or exit)\n");
}

TEST(ChainsTest, BrokenChainsOfTheKernelCountApart) {
  const std::string line =
      "# Chains by frame pointers: 12.50% of 320 are broken (a caller is in no mapping)\n";
  EXPECT_EQ(ChainsLine({.by_kernel = 320, .broken = 40}), line);
  EXPECT_EQ(ChainsLine({.complete = 4, .by_kernel = 320, .broken = 40}),
            "# Call chains: 100.00% of 4 are whole\n" + line);
  EXPECT_EQ(ChainsLine({.by_kernel = 320}), "") << "where all are right nothing is to be said";
  EXPECT_EQ(FormatChains({.by_kernel = 320, .broken = 40}),
            line + "# No call chains were unwound: record with --call-graph dwarf.\n");
}

TEST(ChainsTest, SaysWhatMendsAReturnAddressThatIsNone) {
  const ChainQuality chains{.cuts = {{1, "bad return address", "/bin/go"}}};
  EXPECT_NE(FormatChains(chains).find("cut: bad return address in /bin/go\n"
                                      "                       its call frame information"),
            std::string::npos);
}

TEST(ChainsTest, SaysWhereNoneWereUnwound) {
  EXPECT_EQ(FormatChains(ChainQuality{}),
            "# No call chains were unwound: record with --call-graph dwarf.\n");
}

TEST(ChainsTest, NamesFromARecordingCannotLookLikeLinesOfOurs) {
  const ChainQuality chains{.cuts = {{1, "no image", "/a\n# b"}}};
  EXPECT_EQ(FormatChains(chains).find("\n# b"), std::string::npos);
}

}  // namespace
}  // namespace profiler::report
