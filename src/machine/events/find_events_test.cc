#include "src/machine/events/find_events.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::events {
namespace {

using perf_event::Attr;

constexpr char kDevices[] = "sys/bus/event_source/devices/";

std::string FlagsOf(const Attr& attr) {
  static constexpr std::pair<perf_event::AttrFlag, const char*> kFlags[] = {
      {perf_event::kAttrExcludeUser, " -user"}, {perf_event::kAttrExcludeKernel, " -kernel"},
      {perf_event::kAttrExcludeHv, " -hv"},     {perf_event::kAttrExcludeIdle, " -idle"},
      {perf_event::kAttrExcludeHost, " -host"}, {perf_event::kAttrExcludeGuest, " -guest"},
      {perf_event::kAttrPinned, " pinned"},     {perf_event::kAttrExclusive, " exclusive"}};
  std::string text;
  for (const auto& [flag, name] : kFlags) {
    if (attr.has(flag)) text += name;
  }
  const uint64_t precise =
      (attr.flags & perf_event::kAttrPreciseIpMask) >> perf_event::kAttrPreciseIpShift;
  if (precise != 0) absl::StrAppend(&text, " precise=", precise);
  return text;
}

class FindEventsTest : public testing::Test {
 protected:
  FindEventsTest() {
    Device("cpu/type", "4\n");
    Device("cpu/format/event", "config:0-7,32-35\n");
    Device("cpu/format/umask", "config:8-15\n");
    Device("cpu/format/edge", "config:18\n");
    Device("cpu/events/mem-loads", "event=0xcd,umask=0x1\n");
    Device("cpu/events/asks", "event=0x1,umask=?\n");
    Device("msr/type", "9\n");
    Device("msr/format/event", "config:0-63\n");
    Device("msr/events/tsc", "event=0x00\n");
    Device("uprobe/type", "8\n");
    Device("uprobe/format/retprobe", "config:0\n");
    tree_.Write("sys/kernel/tracing/events/sched/sched_switch/id", "372\n");
    tree_.Write("sys/kernel/tracing/events/sched/sched_waking/id", "375\n");
  }

  void Device(const std::string& file, std::string_view text) {
    tree_.Write(kDevices + file, text);
  }

  // Returns one line per event: "cycles type=0 config=0x0 …". If the event is not the leader of its
  // group, the line also has the leader in brackets.
  std::string Found(std::string_view text) {
    const auto found = FindEvents(tree_.roots(), text);
    if (!found.ok()) return std::string(found.status().message());
    std::string shown;
    for (size_t i = 0; i < found->size(); ++i) {
      const FoundEvent& event = (*found)[i];
      absl::StrAppendFormat(&shown, "%s%s %d:0x%x", i == 0 ? "" : "\n", event.name, event.attr.type,
                            event.attr.config);
      if (event.attr.config1 != 0 && event.probed == nullptr) {
        absl::StrAppendFormat(&shown, " config1=%#x", event.attr.config1);
      }
      if (event.attr.bp_type != 0) {
        absl::StrAppend(&shown, " bytes=", event.attr.config2, " access=", event.attr.bp_type);
      }
      shown += FlagsOf(event.attr);
      if (event.is_sampled_each_time) shown += " each";
      if (event.terms.period) absl::StrAppend(&shown, " period=", *event.terms.period);
      if (event.terms.frequency) absl::StrAppend(&shown, " freq=", *event.terms.frequency);
      if (event.sample_read) shown += " sample_read";
      if (event.weak) shown += " weak";
      if (!event.cpus.empty()) absl::StrAppend(&shown, " cpus=", absl::StrJoin(event.cpus, ","));
      if (event.leader != i) absl::StrAppend(&shown, " [", event.leader, "]");
    }
    return shown;
  }

  procfs::FakeTree tree_;
};

// Looks the address up in this process's own map.
uint64_t FileOffsetOf(uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long start = 0, end = 0, offset = 0;
    if (sscanf(line.c_str(), "%lx-%lx %*s %lx", &start, &end, &offset) != 3) continue;
    if (address >= start && address < end) return address - start + offset;
  }
  return 0;
}

TEST_F(FindEventsTest, GenericEventsAreTheKernels) {
  EXPECT_EQ(Found("cycles"), "cycles 0:0x0");
  EXPECT_EQ(Found("CPU-Clock"), "CPU-Clock 1:0x0");
  EXPECT_EQ(Found("L1-dcache-load-misses"), "L1-dcache-load-misses 3:0x10000");
  EXPECT_EQ(Found("r1a8"), "r1a8 4:0x1a8");
  EXPECT_EQ(Found("1:2"), "1:2 1:0x2");
  EXPECT_EQ(Found("mem:0x10/2:w"), "mem:0x10/2:w 5:0x0 config1=0x10 bytes=2 access=2 each");
}

TEST_F(FindEventsTest, ModifiersExcludeTheModesThatTheyDoNotName) {
  EXPECT_EQ(Found("cycles:u"), "cycles:u 0:0x0 -kernel -hv");
  EXPECT_EQ(Found("cycles:k"), "cycles:k 0:0x0 -user -hv");
  EXPECT_EQ(Found("cycles:uk"), "cycles:uk 0:0x0 -hv");
  EXPECT_EQ(Found("cycles:H"), "cycles:H 0:0x0 -guest");
  EXPECT_EQ(Found("cycles:HG"), "cycles:HG 0:0x0");
  EXPECT_EQ(Found("cycles:I"), "cycles:I 0:0x0 -idle");
  EXPECT_EQ(Found("cycles:pp"), "cycles:pp 0:0x0 precise=2");
  EXPECT_EQ(Found("cycles:P"), "cycles:P 0:0x0 precise=3");
  EXPECT_EQ(Found("cycles:De"), "cycles:De 0:0x0 pinned exclusive");
}

TEST_F(FindEventsTest, AGroupsModifiersAddToThoseOfItsEvents) {
  EXPECT_EQ(Found("{cs:u,faults}:k"), "cs:u 1:0x3 -hv\nfaults 1:0x2 -user -hv [0]");
  EXPECT_EQ(Found("cs,{cs,faults}:SD"),
            "cs 1:0x3\ncs 1:0x3 pinned sample_read\nfaults 1:0x2 sample_read [1]");
  EXPECT_EQ(Found("{cs,faults}:W"), "cs 1:0x3 weak\nfaults 1:0x2 weak [0]");
}

TEST_F(FindEventsTest, TermsOfAPmuGoWhereItsFormatsSay) {
  EXPECT_EQ(Found("cpu/event=0xf3c,umask=2/u"),
            "cpu/event=0xf3c,umask=2/u 4:0xf0000023c -kernel -hv");
  EXPECT_EQ(Found("cpu/event=1,edge/"), "cpu/event=1,edge/ 4:0x40001");
  EXPECT_EQ(Found("cpu/config=0x12,config1=3/"), "cpu/config=0x12,config1=3/ 4:0x12 config1=0x3");
  EXPECT_EQ(Found("cpu/mem-loads/"), "cpu/mem-loads/ 4:0x1cd");
  EXPECT_EQ(Found("mem-loads:u"), "mem-loads:u 4:0x1cd -kernel -hv");
  EXPECT_EQ(Found("msr/tsc/"), "msr/tsc/ 9:0x0");
  EXPECT_EQ(Found("cpu/cycles/"), "cpu/cycles/ 0:0x0");
  EXPECT_EQ(Found("cpu/r1a8/"), "cpu/r1a8/ 4:0x1a8");
  EXPECT_EQ(Found("cpu/asks,umask=4/"), "cpu/asks,umask=4/ 4:0x401");
}

TEST_F(FindEventsTest, TermsSayHowAnEventIsSampled) {
  EXPECT_EQ(Found("cs/period=0x10,name=switch/u"), "switch 1:0x3 -kernel -hv period=16");
  EXPECT_EQ(Found("cycles/freq=99/"), "cycles/freq=99/ 0:0x0 freq=99");
  EXPECT_EQ(Found("cs/cpu=0-1/"), "cs/cpu=0-1/ 1:0x3 cpus=0,1");
  const auto found =
      FindEvents(tree_.roots(), "cs/call-graph=dwarf,stack-size=1024,max-stack=9,no-inherit/");
  ASSERT_TRUE(found.ok());
  const SampleTerms& terms = found->front().terms;
  EXPECT_EQ(terms.call_graph, "dwarf");
  EXPECT_EQ(terms.stack_size, 1024u);
  EXPECT_EQ(terms.max_stack, 9u);
  EXPECT_EQ(terms.inherit, false);
}

TEST_F(FindEventsTest, TracepointsAreFoundByNameAndPattern) {
  EXPECT_EQ(Found("sched:sched_switch"), "sched:sched_switch 2:0x174 each");
  EXPECT_EQ(Found("sched:*:u"),
            "sched:sched_switch:u 2:0x174 -kernel -hv each\n"
            "sched:sched_waking:u 2:0x177 -kernel -hv each");
  EXPECT_EQ(Found("sched:sched_switch/freq=9/"), "sched:sched_switch/freq=9/ 2:0x174 each freq=9");
  EXPECT_EQ(Found("sched:none"), "this kernel has no tracepoint sched:none");
  std::filesystem::remove_all(tree_.path("sys/kernel"));
  EXPECT_EQ(Found("sched:sched_switch"),
            "tracepoints: tracefs is not mounted; `sudo mount -t tracefs nodev "
            "/sys/kernel/tracing` does that");
  tree_.Write("proc/mounts", absl::StrCat("nodev ", tree_.path("elsewhere"), " tracefs rw 0 0\n"));
  tree_.Write("elsewhere/events/sched/sched_switch/id", "5\n");
  EXPECT_EQ(Found("sched:sched_switch"), "sched:sched_switch 2:0x5 each");
}

TEST_F(FindEventsTest, AFilterIsCheckedAgainstTheFieldsOfItsTracepoint) {
  tree_.Write("sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "22\n");
  tree_.Write("sys/kernel/tracing/events/raw_syscalls/sys_enter/format",
              "name: sys_enter\n"
              "ID: 22\n"
              "format:\n"
              "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
              "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
              "\n"
              "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
              "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
              "\n"
              "print fmt: \"NR %ld\", REC->id\n");
  const Tracepoint tracepoint{"raw_syscalls", "sys_enter", 22};
  const auto check = [&](const std::string& filter) {
    return std::string(CheckFilter(tree_.roots(), tracepoint, filter).message());
  };
  EXPECT_EQ(check("id == 1"), "");
  EXPECT_EQ(check("id == 1 && common_pid != 7 && (CPU < 2 || comm ~ \"a==b*\")"), "");
  EXPECT_EQ(
      check("id == 1 || nosuch>=2"),
      "--filter: 'id == 1 || nosuch>=2': raw_syscalls:sys_enter has no field 'nosuch'; it has "
      "id, args, common_type, common_pid, CPU, cpu, COMM, comm, stacktrace");
  for (const char* odd : {"", "id ==", "id 1", "(id == 1", "&&", "\"", "'", "=="}) {
    EXPECT_EQ(check(odd), "") << odd;
  }
}

TEST_F(FindEventsTest, CpusOfSeveralKindsCountAGenericEventEach) {
  std::filesystem::remove_all(tree_.path(absl::StrCat(kDevices, "cpu")));
  Device("cpu_core/type", "4\n");
  Device("cpu_core/cpus", "0-1\n");
  Device("cpu_atom/type", "10\n");
  Device("cpu_atom/cpus", "2\n");
  EXPECT_EQ(Found("cycles"),
            "cpu_atom/cycles/ 0:0xa00000000 cpus=2\ncpu_core/cycles/ 0:0x400000000 cpus=0,1");
  EXPECT_EQ(Found("{cycles,cs}"),
            "cpu_atom/cycles/ 0:0xa00000000 cpus=2\ncs 1:0x3 [0]\n"
            "cpu_core/cycles/ 0:0x400000000 cpus=0,1\ncs 1:0x3 [2]");
  EXPECT_EQ(Found("cpu_core/cycles/"), "cpu_core/cycles/ 0:0x400000000 cpus=0,1");
  EXPECT_EQ(Found("cpu-clock"), "cpu-clock 1:0x0");
}

TEST_F(FindEventsTest, WhatThisMachineHasNotIsSaid) {
  EXPECT_EQ(Found("cpuclock"), "event 'cpuclock' is not known; did you mean 'cpu-clock'?");
  EXPECT_EQ(Found("zzz"), "event 'zzz' is not known");
  EXPECT_EQ(Found("nosuch/x=1/"),
            "nosuch/x=1/: this machine has no PMU 'nosuch'; it has cpu, msr, uprobe");
  EXPECT_EQ(Found("/no/such:main"), "/no/such: No such file or directory");
}

// A function of this test's own file, whose address dladdr(3) also finds.
extern "C" void ProbedFunction() { asm volatile("nop"); }

TEST_F(FindEventsTest, ProbesGoWhereTheSymbolIsInTheFile) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  // The compiler chooses where the second instruction begins.
  uint64_t offset = 0;
  absl::StatusOr<std::vector<FoundEvent>> found = absl::NotFoundError("none was tried");
  while (!found.ok() && offset < 16) {
    found = FindEvents(tree_.roots(), absl::StrCat(self, ":ProbedFunction+", ++offset, "%return"));
  }
  ASSERT_TRUE(found.ok()) << found.status();
  const FoundEvent& probe = found->front();
  EXPECT_EQ(probe.attr.type, 8u);
  EXPECT_EQ(probe.attr.config, 1u);
  EXPECT_EQ(reinterpret_cast<const char*>(probe.attr.config1), self);
  const uint64_t runtime = reinterpret_cast<uintptr_t>(&ProbedFunction) + offset;
  EXPECT_EQ(probe.attr.config2, FileOffsetOf(runtime));
  EXPECT_EQ(Found(self + ":no_such_function"),
            "no function 'no_such_function' in " + self + " or its debug file");
  EXPECT_EQ(Found("kprobe:do_nanosleep"), "this kernel has no kprobes for perf events");
}

TEST_F(FindEventsTest, NoProbeIsInheritedNorAnyMemberOfItsGroup) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto found =
      FindEvents(tree_.roots(), absl::StrCat("cs,{faults/inherit/,", self, ":ProbedFunction}"));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)[0].terms.inherit, std::nullopt);
  EXPECT_EQ((*found)[1].terms.inherit, false);
  EXPECT_EQ((*found)[2].terms.inherit, false);
  EXPECT_EQ(NoteOnInheritance({(*found)[0]}), "");
  EXPECT_EQ(NoteOnInheritance(*found),
            self +
                ":ProbedFunction: threads and processes that start later are not observed, because "
                "Linux cannot inherit probes; -a observes all");
}

TEST_F(FindEventsTest, TermsThatCannotBeAreRefused) {
  EXPECT_EQ(Found("msr/x=1/"),
            "msr/x=1/: no term 'x' for msr; there are event, tsc, config, config1, config2, "
            "config3, config4, name, period, freq, call-graph, stack-size, max-stack, time, "
            "inherit, no-inherit, cpu");
  EXPECT_EQ(Found("cpu/event=0x1000/"), "cpu/event=0x1000/: 'event' has 12 bits");
  EXPECT_EQ(Found("cpu/event=a/"), "cpu/event=a/: a number is expected");
  EXPECT_EQ(Found("cpu/event/"), "cpu/event/: 'event' takes a number");
  EXPECT_EQ(Found("cpu/asks/"), "cpu/asks/: this event takes a term umask=NUMBER");
  EXPECT_EQ(Found("cs/period=x/"), "cs/period=x/: 'period' takes a number");
  EXPECT_EQ(Found("cs/call-graph=x/"), "cs/call-graph=x/: call-graph is fp, dwarf, auto or no");
  EXPECT_EQ(Found("cs/percore/"), "cs/percore/: 'percore' cannot be had here");
  EXPECT_EQ(Found("{cycles:pp,cs}:pp"), "{cycles:pp,cs}:pp: precise goes up to 'ppp'");
  EXPECT_EQ(Found("cs:W"), "cs:W: 'W' is for groups: {a,b}:W");
}

TEST_F(FindEventsTest, ANameGoesBeforeConfig) {
  EXPECT_EQ(FindEvents({}, "cs/config=2/")->front().attr.config, 3u);
  EXPECT_EQ(FindEvents({}, "1:3/config=2/")->front().attr.config, 2u);
}

TEST_F(FindEventsTest, OfPeriodAndFrequencyTheLastOneCounts) {
  const auto found = FindEvents({}, "cs/period=7,freq=8/,cs/freq=8,period=7/");
  EXPECT_FALSE((*found)[0].terms.period.has_value());
  EXPECT_EQ((*found)[0].terms.frequency, 8u);
  EXPECT_FALSE((*found)[1].terms.frequency.has_value());
}

TEST_F(FindEventsTest, WhatBpfProgramsPutOutIsSampledEachTimeAndRaw) {
  for (const char* text : {"bpf-output", "1:10"}) {
    const auto found = FindEvents({}, text);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(found->front().is_sampled_each_time) << text;
    EXPECT_TRUE(found->front().has_raw_data) << text;
  }
}

}  // namespace
}  // namespace profiler::events
