#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "src/import/testing/views.h"

namespace profiler::import {
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
      ": 1 counts are no whole numbers, and were rounded"));
}

TEST(FoldedStacks, KeepWhatCanBeReadOfOtherLines) {
  const auto loaded = Load(FileWith("# a comment\na;b 1\r\n\nno number\na;c 2\n"));
  EXPECT_EQ(FoldedOf(loaded.profile), "a;b 1\na;c 2\n");
  ASSERT_EQ(loaded.recording->warnings().size(), 1);
  EXPECT_TRUE(loaded.recording->warnings()[0].ends_with(
      ": 1 lines do not end with a number and were passed over, line 4 first"));
}

TEST(FoldedStacks, AreNamesAloneWhateverThisMachineHas) {
  const auto loaded = Load(FileWith("/bin/sh;main;libc.so.6 3\n"));
  EXPECT_EQ(FramesOf(loaded.profile), "main@[unknown];libc.so.6@[unknown] 3/3\n");
}

TEST(AnUnknownFile, IsSaidToBeginWithWhatItBeginsWith) {
  EXPECT_EQ(
      ErrorOf(FileWith("GIF89a etc")),
      "F: not a perf.data file: offset 10: expected a header of 16 bytes; nor is it a profile "
      "of folded, perf-script, pprof, pprof-legacy, firefox, speedscope, cpuprofile: it "
      "begins with \"GIF89a etc\"");
}

}  // namespace
}  // namespace profiler::import
