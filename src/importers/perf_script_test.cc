#include <gtest/gtest.h>

#include <string>

#include "src/importers/perf_script_line.h"
#include "src/importers/testing/views.h"

namespace profiler::importers {
namespace {

// Parses the first line of a sample, and returns its fields as text.
std::string Told(std::string_view line) {
  const auto sample = ParseScriptSample(line);
  if (!sample) return "none";
  std::string text = std::string(sample->comm) + "|";
  text += sample->pid ? std::to_string(*sample->pid) : "?";
  text += "/" + std::to_string(sample->tid) + "|";
  text += sample->cpu ? std::to_string(*sample->cpu) : "?";
  text += "|" + (sample->time ? std::to_string(*sample->time) : "?") + "|";
  text += sample->period ? std::to_string(*sample->period) : "?";
  return text + "|" + std::string(sample->event) + "|" + std::string(sample->rest);
}

TEST(TheLineOfASample, IsReadInEveryFormThatPerfPrints) {
  EXPECT_EQ(Told("java 10488  9962.502413:   10101010 cpu-clock: "),
            "java|?/10488|?|9962502413000|10101010|cpu-clock|");
  EXPECT_EQ(Told("swapper     0/0 [012] 2281339.604067123:   20834821 cycles:uppp:"),
            "swapper|0/0|12|2281339604067123|20834821|cycles:uppp|");
  EXPECT_EQ(Told("java 19983 cycles:"), "java|?/19983|?|?|?|cycles|");
  EXPECT_EQ(Told("comm and3 another 5 part1\t7/8\t\t[000] 0.5:\t\t\t1 sched:switch: prev_pid=1"),
            "comm and3 another 5 part1|7/8|0|500000000|1|sched:switch|prev_pid=1");
  EXPECT_EQ(Told("gone    -1/-1    [001] 1.000001: 5 cycles:"),
            "gone|4294967295/4294967295|1|1000001000|5|cycles|");
}

TEST(TheLineOfASample, IsNoOtherLine) {
  EXPECT_EQ(Told("\t7f443c368f50 std::map<int, 3 >::at (/usr/bin/x)"), "none");
  EXPECT_EQ(Told("a;b;c 12"), "none");
  EXPECT_EQ(Told(""), "none");
  EXPECT_EQ(Told("java 10488  9962.502413:"), "none");
}

TEST(PerfScriptText, HasThreadsTimesAndAddressesOfTheSamples) {
  const auto loaded =
      Load(FileWith("# cmdline : /usr/bin/perf record\n"
                    "sleep  12/13 [003] 1.500000:  100 cycles:u:\n"
                    "\t    7f0000001010 read+0x10 (/lib/libc.so.6)\n"
                    "\t          401b94 main+0x1c (/bin/app (deleted))\n"
                    "\n"
                    "sleep  12/13 [003] 1.600000:  50 cycles:u:\n"
                    "\tffffffff81000010 sys_read+0x10 ([kernel.kallsyms])\n"
                    "\tffffffffc0000010 [unknown] ([ext4])\n"
                    "\t    7f0000001020 read+0x20 (/lib/libc.so.6)\n"
                    "\t               0 [unknown] ([unknown])\n"));
  EXPECT_EQ(EventsOf(loaded.profile), "cycles:u 2/150");
  EXPECT_EQ(FramesOf(loaded.profile),
            "?@[unknown];read@libc.so.6;?@[ext4];sys_read@[kernel.kallsyms] 1/50\n"
            "main@app (deleted);read@libc.so.6 1/100\n");
  ASSERT_EQ(loaded.profile.threads.size(), 1);
  EXPECT_EQ(loaded.profile.threads[0].pid, 12);
  EXPECT_EQ(loaded.profile.threads[0].tid, 13);
  EXPECT_EQ(loaded.recording->features().sample_time->first, 1'500'000'000);
  EXPECT_EQ(loaded.recording->features().sample_time->last, 1'600'000'000);
}

TEST(PerfScriptText, WithOtherRecordsHasItsSamples) {
  const auto loaded = Load(FileWith(
      "swapper     0 0.000000: PERF_RECORD_MMAP2 -1/0: [0xffffffff81000000(0x1276f48) @ 0]: ---p "
      "[kernel.kallsyms]_text\n"
      "app  3704   1.1: PERF_RECORD_COMM exec: app:3704/3704\n"
      "app  3704   1.2:    100 cpu-clock: \n"
      "\t    5645a61c9146 heavy+0x1d (/srv/app)\n"
      "app  3704   1.3: PERF_RECORD_FORK(3704:3705):(3704:3704)\n"
      "app  3704   1.4:    100 cpu-clock: \n"
      "\t    5645a61c9166 light+0x1d (/srv/app)\n"));
  EXPECT_EQ(FoldedOf(loaded.profile), "app;heavy 100\napp;light 100\n");
  EXPECT_TRUE(loaded.recording->warnings().empty());
}

TEST(PerfScriptText, HasThreadsWhoseNameBeginsAsACommentDoes) {
  const auto loaded =
      Load(FileWith("# captured on    : Wed Nov  4 10:11:12 2026\n"
                    "#1 worker  1023   1.2:    100 cpu-clock: \n"
                    "\t    5645a61c9146 heavy+0x1d (/srv/app)\n"));
  EXPECT_EQ(FoldedOf(loaded.profile), "#1 worker;heavy 100\n");
}

TEST(PerfScriptText, HasInlinedCallsAndSourceLines) {
  const auto loaded =
      Load(FileWith("app 1 1.0: 1 cycles:\n"
                    "\t401b94 innermost (inlined)\n"
                    "\t  a.h:3\n"
                    "\t401b94 inner (inlined)\n"
                    "\t401b94 main+0x1c (/bin/app)\n"
                    "  main.c:12\n"));
  EXPECT_EQ(FramesOf(loaded.profile), "main@app main.c:12;inner@app^;innermost@app^ a.h:3 1/1\n");
}

TEST(PerfScriptText, TakesNoNamesFromFilesOfThisMachine) {
  // Addresses at which the C library and the shell of this machine have symbols.
  std::string text;
  for (int address = 0x26000; address < 0x90000; address += 0x1000) {
    text += "sh 1 1.0: 1 cycles:\n\t" + std::to_string(address) +
            " [unknown] (/lib/x86_64-linux-gnu/libc.so.6)\n\t" + std::to_string(address) +
            " [unknown] (/bin/sh)\n\tffffffff81234560 [unknown] ([kernel.kallsyms])\n\n";
  }
  const std::string path = FileWith(text);
  for (const char* const symfs : {"", "/"}) {
    naming::LoadOptions options;
    options.naming.places.symfs = symfs;
    const auto loaded = Load(path, options);
    EXPECT_TRUE(loaded.profile.symbols.empty()) << symfs;
    EXPECT_NE(FoldedOf(loaded.profile).find("sh;[[kernel.kallsyms]];[sh];[libc.so.6]"),
              std::string::npos);
  }
}

TEST(PerfScriptText, GivesEachNameOfOneAddressToItsOwnProcess) {
  const auto loaded =
      Load(FileWith("a 1 1.0: 1 cycles:\n\t400010 first+0x0 (/bin/a)\n\n"
                    "b 2 2.0: 1 cycles:\n\t400010 second+0x0 (/bin/b)\n\n"
                    "b 2 3.0: 1 cycles:\n\t400010 third+0x0 (/bin/b)\n"));
  EXPECT_EQ(FramesOf(loaded.profile), "first@a 1/1\nsecond@b 1/1\nthird@b 1/1\n");
}

TEST(PerfScriptText, HasAddressesThatWouldBeMarkersInACallChain) {
  const auto loaded =
      Load(FileWith("app 1 1.0: 1 cycles:\n"
                    "\t401b94 main+0x4 (/bin/app)\n"
                    "\tffffffffffffffff [unknown] ([unknown])\n"
                    "\tfffffffffffff000 [unknown] ([unknown])\n"));
  EXPECT_EQ(FramesOf(loaded.profile), "?@[unknown];?@[unknown];main@app 1/1\n");
}

TEST(PerfScriptText, WithoutASampleSaysWhichLineIsNone) {
  EXPECT_EQ(ErrorOf(FileWith("sh 1 1.0:\n")).find("F: not a perf.data file"), 0);
}

}  // namespace
}  // namespace profiler::importers
