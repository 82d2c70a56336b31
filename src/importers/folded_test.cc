#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "src/importers/testing/views.h"

namespace profiler::importers {
namespace {

TEST(FoldedStacks, AreTheSameAfterBeingImported) {
  const std::string folded =
      "java;Foo.bar(int);Foo.baz_[j] 7\n"
      "java;Foo.bar(int);operator new (unsigned long) 3\n"
      "sh;[unknown];read;vfs_read_[k] 12\n"
      "sh;main 1\n";
  const auto loaded = Load(FileWith(folded));
  EXPECT_EQ(FoldedOf(loaded.profile), folded);
  EXPECT_EQ(EventsOf(loaded.profile), "samples 23/23");
}

TEST(FoldedStacks, OfTwoColumnsAreTwoEvents) {
  const auto loaded = Load(FileWith("a;b 1 2\na;c 0 5\n"));
  EXPECT_EQ(FoldedOf(loaded.profile, "before"), "a;b 1\n");
  EXPECT_EQ(FoldedOf(loaded.profile, "after"), "a;b 2\na;c 5\n");
}

TEST(FoldedStacks, HaveNumbersInNamesWhereOneLineHasOneColumnOnly) {
  EXPECT_EQ(FoldedOf(Load(FileWith("a;type 9 5\na;c 2\n")).profile), "a;c 2\na;type 9 5\n");
}

TEST(FoldedStacks, AreRoundedAndSaidToBeWhereTheyAreFractions) {
  const auto loaded = Load(FileWith("a;b 1.6\na;c 2.0\n"));
  EXPECT_EQ(FoldedOf(loaded.profile), "a;b 2\na;c 2\n");
  ASSERT_EQ(loaded.recording->warnings().size(), 1);
  EXPECT_TRUE(loaded.recording->warnings()[0].ends_with(
      ": 1 counts are not whole numbers and were rounded"));
}

TEST(FoldedStacks, KeepWhatCanBeReadOfOtherLines) {
  const auto loaded = Load(FileWith("# a comment\na;b 1\r\n\nno number\na;c 2\n"));
  EXPECT_EQ(FoldedOf(loaded.profile), "a;b 1\na;c 2\n");
  ASSERT_EQ(loaded.recording->warnings().size(), 1);
  EXPECT_TRUE(loaded.recording->warnings()[0].ends_with(
      ": 1 lines do not end with a number and were skipped, line 4 first"));
}

TEST(FoldedStacks, AreNamesAloneWhateverThisMachineHas) {
  const auto loaded = Load(FileWith("/bin/sh;main;libc.so.6 3\n"));
  EXPECT_EQ(FramesOf(loaded.profile), "main@[unknown];libc.so.6@[unknown] 3/3\n");
}

TEST(FoldedStacks, AreKnownByAFirstLineOfAnyLength) {
  std::string deep = "java";
  for (int i = 0; i < 9000; ++i) deep += ";frame" + std::to_string(i % 40);
  const auto loaded = Load(FileWith(deep + ";leaf 90\njava;main 10\n"));
  EXPECT_EQ(EventsOf(loaded.profile), "samples 100/100");
}

TEST(FoldedStacks, AreReadBehindAByteOrderMark) {
  EXPECT_EQ(FoldedOf(Load(FileWith("\xef\xbb\xbfjava;main 10\n")).profile), "java;main 10\n");
}

TEST(ACallgrindFile, HasEachFunctionsOwnCost) {
  const auto loaded =
      Load(FileWith("# callgrind format\nversion: 1\ncmd: /bin/app -x\n"
                    "positions: line\nevents: Ir Dr\n\nob=(1) /bin/app\n"
                    "fl=(1) app.c\nfn=(1) main\n15 400 20\ncfn=(2) work\n"
                    "calls=3 20\n16 900 10\n+1 100\nfn=(2)\n20 900 10\n"));
  EXPECT_EQ(EventsOf(loaded.profile), "Ir 3/1400, Dr 2/30");
  EXPECT_EQ(FramesOf(loaded.profile),
            "main@app app.c:15 1/20\nmain@app app.c:15 1/400\nmain@app app.c:17 1/100\n"
            "work@app app.c:20 1/10\nwork@app app.c:20 1/900\n");
  EXPECT_EQ(FoldedOf(loaded.profile, "Dr"), "app;main 20\napp;work 10\n");
  EXPECT_TRUE(loaded.recording->warnings().back().ends_with(
      ": a callgrind file has no stacks: each function has its own cost, and no callers"));
}

TEST(ACallgrindFile, OfOursHasTheSamplesOfEachEvent) {
  const auto loaded =
      Load(FileWith("# callgrind format\nevent: cpu : cpu\n"
                    "event: cpu_samples : samples of cpu\nevents: cpu cpu_samples\n"
                    "fl=(1) ???\nfn=(1) main\n0 300 2\n0 200 1\n"));
  EXPECT_EQ(EventsOf(loaded.profile), "cpu 3/500");
}

TEST(ACallgrindFile, MayHaveItsHeadBetweenItsCosts) {
  const auto loaded =
      Load(FileWith("# callgrind format\npositions: instr line\nfn=main\n1 2 3\n"
                    "positions: instr\nevents: Ir Dr\n7 40\nevents: Ir\n8 60\n"));
  EXPECT_EQ(EventsOf(loaded.profile), "Ir 1/100, Dr 0/0");
}

TEST(ACallgrindFile, WithoutEventsIsRefused) {
  EXPECT_EQ(ErrorOf(FileWith("# callgrind format\nfn=main\n0 1\n")),
            "F: callgrind: it has no line \"events:\", which names the counted events");
}

TEST(AnUnknownFile, IsSaidToBeginWithWhatItBeginsWith) {
  EXPECT_EQ(
      ErrorOf(FileWith("GIF89a etc")),
      "F: not a perf.data file: offset 10: expected a header of 16 bytes; nor is it a profile "
      "of folded, perf-script, pprof, pprof-legacy, firefox, speedscope, cpuprofile, chrome-trace, "
      "callgrind, otlp: it "
      "begins with \"GIF89a etc\"");
}

}  // namespace
}  // namespace profiler::importers
