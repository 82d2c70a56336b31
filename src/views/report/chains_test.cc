#include "src/views/report/chains.h"

#include <utility>

#include "gtest/gtest.h"
#include "src/profile/testing/handmade_profile.h"

namespace profiler::report {
namespace {

using profile::HandmadeProfile;

profile::Profile With(ChainQuality chains) {
  profile::Profile profile;
  profile.chains = std::move(chains);
  return profile;
}
std::string Line(ChainQuality chains) { return ChainsLine(With(std::move(chains))); }
std::string Format(ChainQuality chains) { return FormatChains(With(std::move(chains))); }

// Returns a profile in which nine light samples have whole chains, and one heavy sample a cut one.
HandmadeProfile Marked() {
  HandmadeProfile b;
  b.Event("cpu-clock");
  b.Sample("app", {"main@app", "parse@app"}, 9, 1000);
  b.Sample("app", {"[cut: stack too short]", "deep@app", "read@libc.so.6"}, 1, 3000);
  b.Sample("app", {"idle@[kernel.kallsyms]"}, 5, 1000);
  b.profile().chains = {.complete = 5, .guessed = 4, .cuts = {{1, "stack too short", "app"}}};
  return b;
}

TEST(ChainsTest, OneLineSaysByWeightHowMuchIsWhole) {
  EXPECT_EQ(ChainsLine(Marked().profile()),
            "# Call chains: 75.00% of 10 are whole by weight (4 guessed), 1 cut\n");
  EXPECT_EQ(Line({.complete = 4, .cuts = {}}), "# Call chains: 100.00% of 4 are whole\n");
  EXPECT_EQ(Line(ChainQuality{}), "");
}

TEST(ChainsTest, EachEventHasAShareOfItsOwn) {
  HandmadeProfile b = Marked();
  b.Event("offcpu-time");
  b.Sample("app", {"main@app", "wait@app"}, 1, 50);
  b.Sample("app", {"[cut: bad register]", "wait@app"}, 1, 150);
  EXPECT_EQ(ChainsLine(b.profile()),
            "# Call chains: 75.00% of cpu-clock and 25.00% of offcpu-time are whole by weight; 10 "
            "chains (4 guessed), 1 cut\n");
}

TEST(ChainsTest, TellsByWeightWhereChainsAreCutAndWhatMendsThem) {
  EXPECT_EQ(FormatChains(Marked().profile()),
            "# Call chains: 75.00% of 10 are whole by weight (4 guessed), 1 cut\n"
            "#\n"
            "#   Chains    Share\n"
            "# ........  .......\n"
            "#\n"
            "         5   50.00%  whole, by call frame information\n"
            "         0    0.00%  whole, read from a thread that waited\n"
            "         4   40.00%  whole, with frames guessed from frame pointers or from the code\n"
            "         1   10.00%  cut\n"
            "#\n"
            "# By weight of cpu-clock:\n"
            "#\n"
            "             25.00%  cut: stack too short in /usr/lib/app\n"
            "                       copy more of the stack: --call-graph dwarf,65528; as root, or "
            "with CAP_BPF and CAP_PERFMON, record reads up to 2 MiB\n");
}

// Recordings of earlier versions count cut chains but do not mark them.
TEST(ChainsTest, WithoutMarksChainsAreCounted) {
  const ChainQuality chains{.complete = 950,
                            .guessed = 40,
                            .cuts = {{7, "stack too short", "/usr/bin/g++"}, {3, "no image", ""}}};
  EXPECT_EQ(Format(chains),
            "# Call chains: 99.00% of 1000 are whole (40 guessed), 10 cut\n"
            "#\n"
            "#   Chains    Share\n"
            "# ........  .......\n"
            "#\n"
            "       950   95.00%  whole, by call frame information\n"
            "         0    0.00%  whole, read from a thread that waited\n"
            "        40    4.00%  whole, with frames guessed from frame pointers or from the code\n"
            "         7    0.70%  cut: stack too short in /usr/bin/g++\n"
            "                       copy more of the stack: --call-graph dwarf,65528; as root, or "
            "with CAP_BPF and CAP_PERFMON, record reads up to 2 MiB\n"
            "         3    0.30%  cut: no image\n"
            "                       code outside of all files (JIT): let it keep frame pointers\n");
}

TEST(ChainsTest, AdvisesToCopyMoreOnlyWhereThereIsMoreToCopy) {
  const std::string text =
      Format({.complete = 9, .cuts = {{1, "stack copied short", "/bin/deep"}}});
  EXPECT_NE(text.find("  10.00%  cut: stack copied short in /bin/deep\n"
                      "                       no larger copy helps; as root, or with CAP_BPF and "
                      "CAP_PERFMON, record reads up to 2 MiB\n"),
            std::string::npos);
  EXPECT_EQ(text.find("65528"), std::string::npos);
}

TEST(ChainsTest, AdvisesNoMoreBytesIfAsManyAsPossibleWereCopied) {
  profile::Profile profile = With({.complete = 9, .cuts = {{1, "stack too short", "/bin/deep"}}});
  profile.copied_stack = 16384;
  EXPECT_NE(FormatChains(profile).find("--call-graph dwarf,65528"), std::string::npos);
  profile.copied_stack = 65528;
  EXPECT_EQ(FormatChains(profile).find("--call-graph dwarf,65528"), std::string::npos);
}

TEST(ChainsTest, SamplesWithoutAUserStackCountApart) {
  const ChainQuality chains{.complete = 4, .no_stack = 3, .cuts = {}};
  EXPECT_EQ(Line(chains),
            "# Call chains: 100.00% of 4 are whole; 3 more had no user stack (exec or "
            "exit)\n");
  EXPECT_NE(Format(chains).find("         3        -  not counted: no user stack"),
            std::string::npos);
  EXPECT_EQ(Line({.no_stack = 3, .cuts = {}}),
            "# Call chains: none; 3 more had no user stack (exec or exit)\n");
}

TEST(ChainsTest, BrokenChainsOfTheKernelCountApart) {
  const std::string line =
      "# Chains by frame pointers: 12.50% of 320 are broken (a caller is in no mapping)\n";
  EXPECT_EQ(Line({.by_kernel = 320, .broken = 40}), line);
  EXPECT_EQ(Line({.complete = 4, .by_kernel = 320, .broken = 40}),
            "# Call chains: 100.00% of 4 are whole\n" + line);
  EXPECT_EQ(Line({.by_kernel = 320}), "") << "where all are right nothing is to be said";
  EXPECT_EQ(Format({.by_kernel = 320, .broken = 40}),
            line + "# No call chains were unwound: record with --call-graph dwarf.\n");
}

TEST(ChainsTest, SaysWhatMendsAReturnAddressThatIsNone) {
  const ChainQuality chains{.cuts = {{1, "bad return address", "/bin/go"}}};
  EXPECT_NE(Format(chains).find("cut: bad return address in /bin/go\n"
                                "                       its call frame information"),
            std::string::npos);
}

TEST(ChainsTest, SaysWhereNoneWereUnwound) {
  EXPECT_EQ(Format({}), "# No call chains were unwound: record with --call-graph dwarf.\n");
}

TEST(ChainsTest, NamesFromARecordingCannotLookLikeLinesOfOurs) {
  const ChainQuality chains{.cuts = {{1, "no image", "/a\n# b"}}};
  EXPECT_EQ(Format(chains).find("\n# b"), std::string::npos);
}

}  // namespace
}  // namespace profiler::report
