#include "src/machine/procfs/machine.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/base/byte_reader.h"
#include "src/base/clock.h"
#include "src/machine/procfs/build_id.h"
#include "src/machine/procfs/process_file.h"
#include "src/machine/procfs/tasks.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::procfs {
namespace {

TEST(MachineFacts, AreReadFromProcAndSys) {
  FakeTree tree;
  tree.Write("proc/sys/kernel/hostname", "box\n")
      .Write("proc/sys/kernel/osrelease", "6.18.1\n")
      .Write("proc/sys/kernel/arch", "x86_64\n")
      .Write("proc/meminfo", "MemTotal:       24682416 kB\nMemFree: 1 kB\n")
      .Write("proc/cpuinfo",
             "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
             "model name\t: AMD EPYC\nstepping\t: 1\n\nprocessor\t: 1\nmodel name\t: other\n")
      .Write("sys/devices/system/cpu/present", "0-3\n")
      .Write("sys/devices/system/cpu/online", "0,2-3\n");
  const MachineFacts facts = ReadMachineFacts(tree.roots());
  EXPECT_EQ(facts.hostname, "box");
  EXPECT_EQ(facts.osrelease, "6.18.1");
  EXPECT_EQ(facts.arch, "x86_64");
  EXPECT_EQ(facts.cpudesc, "AMD EPYC");
  EXPECT_EQ(facts.cpuid, "AuthenticAMD,25,1,1");
  EXPECT_EQ(facts.cpus_available, 4u);
  EXPECT_EQ(facts.cpus_online, 3u);
  EXPECT_EQ(facts.total_mem_kb, 24682416u);
  EXPECT_EQ(absl::StrJoin(*OnlineCpus(tree.roots()), " "), "0 2 3");
}

TEST(MachineFacts, AreEmptyWhereTheMachineDoesNotSay) {
  FakeTree tree;
  const MachineFacts facts = ReadMachineFacts(tree.roots());
  EXPECT_EQ(facts.hostname + facts.cpudesc + facts.cpuid, "");
  EXPECT_EQ(facts.cpus_online, 0u);
  EXPECT_FALSE(OnlineCpus(tree.roots()).ok());
  EXPECT_EQ(PermittedCapabilities(tree.roots()), 0u);
}

TEST(PerfLimits, AreAbsentWhereTheKernelHasNone) {
  FakeTree tree;
  tree.Write("proc/sys/kernel/perf_event_paranoid", "-1\n")
      .Write("proc/sys/kernel/perf_event_mlock_kb", "516\n");
  const PerfLimits limits = ReadPerfLimits(tree.roots());
  EXPECT_EQ(limits.paranoid, -1);
  EXPECT_EQ(limits.mlock_kb, 516);
  EXPECT_FALSE(limits.max_sample_rate.has_value());
}

TEST(PidNamespace, IsOneOfAContainerWhereItIsNotTheFirst) {
  FakeTree tree;
  EXPECT_FALSE(IsInPidNamespace(tree.roots()));
  tree.Link("proc/self/ns/pid", "pid:[4026531836]");
  EXPECT_FALSE(IsInPidNamespace(tree.roots()));
  tree.Link("proc/self/ns/pid", "pid:[4026532301]");
  EXPECT_TRUE(IsInPidNamespace(tree.roots()));
}

TEST(PermittedCapabilities, AreReadAsBits) {
  FakeTree tree;
  tree.Write("proc/self/status", "CapPrm:\t0000000000004001\nCapEff:\t1\n");
  EXPECT_EQ(PermittedCapabilities(tree.roots()), 0x4001u);
}

TEST(IsRoot, AsksForTheEffectiveUser) {
  FakeTree tree;
  EXPECT_FALSE(IsRoot(tree.roots()));
  tree.Write("proc/self/status", "Uid:\t0\t1000\t0\t0\n");
  EXPECT_FALSE(IsRoot(tree.roots()));
  tree.Write("proc/self/status", "Uid:\t1000\t0\t0\t0\n");
  EXPECT_TRUE(IsRoot(tree.roots()));
}

TEST(ParseCpuList, TakesRangesInAnyOrder) {
  EXPECT_EQ(absl::StrJoin(*ParseCpuList("5,0-2,1"), " "), "0 1 2 5");
}

TEST(ParseCpuList, RefusesWhatIsNone) {
  for (const char* text : {"", "a", "3-1", "-1", "1-", "1--2", "0-4000000000", "99999"}) {
    EXPECT_FALSE(ParseCpuList(text).ok()) << text;
  }
}

TEST(Tasks, AreListedInOrder) {
  FakeTree tree;
  tree.Process(12, 1, "b", "").Process(7, 1, "a", "").Thread(7, 30, "t").Thread(7, 8, "u");
  tree.Write("proc/12x/comm", "").Write("proc/cpuinfo", "");
  EXPECT_EQ(absl::StrJoin(*ProcessIds(tree.roots()), " "), "7 12");
  EXPECT_EQ(absl::StrJoin(*ThreadIds(tree.roots(), 7), " "), "7 8 30");
  EXPECT_EQ(*ProcessOf(tree.roots(), 12), 12);
  EXPECT_TRUE(absl::IsNotFound(ThreadIds(tree.roots(), 9).status()));
  EXPECT_TRUE(absl::IsNotFound(ProcessOf(tree.roots(), 9).status()));
}

TEST(Tasks, TheirCpuTimeStandsBehindANameOfAnyKind) {
  FakeTree tree;
  tree.Write("proc/7/stat", "7 (a) b) S 1 7 7 0 -1 4194304 90 80 0 0 150 50 25 75 20 0 1 0 9\n");
  const ProcessTimes times = TimesOf(tree.roots().proc + "/7");
  EXPECT_EQ(times.own, ClockTicks(200));
  EXPECT_EQ(times.ended_children, ClockTicks(100));
  EXPECT_EQ(TimesOf(tree.roots().proc + "/8").own.count(), 0);
}

TEST(BuildIdOfFile, IsEmptyForWhatIsNoImage) {
  FakeTree tree;
  tree.Write("text", "hello").Write("elf", "\177ELF\2\1\1");
  EXPECT_TRUE(BuildIdOfFile(tree.path("text")).empty());
  EXPECT_TRUE(BuildIdOfFile(tree.path("elf")).empty());
  EXPECT_TRUE(BuildIdOfFile(tree.path("missing")).empty());
  EXPECT_TRUE(BuildIdOfFile("/").empty());
}

TEST(ProcessFile, IsReadUpToABound) {
  FakeTree tree;
  tree.Write("proc/7/cmdline", std::string(100'000, 'x')).Write("proc/7/comm", "cat\n");
  std::string text;
  ASSERT_TRUE(ReadOfProcess(tree.roots(), 7, "cmdline", &text).ok());
  EXPECT_EQ(text.size(), kMostOfProcessFile);
  ASSERT_TRUE(ReadOfProcess(tree.roots(), 7, "cmdline", &text, 10'000).ok());
  EXPECT_EQ(text, std::string(10'000, 'x'));
  ASSERT_TRUE(ReadOfProcess(tree.roots(), 7, "comm", &text).ok());
  EXPECT_EQ(text, "cat\n");
  EXPECT_FALSE(ReadOfProcess(tree.roots(), 7, "environ", &text).ok());
}

}  // namespace
}  // namespace profiler::procfs
