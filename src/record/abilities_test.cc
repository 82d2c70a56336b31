#include "src/record/abilities.h"

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ringbuf/testing/fake_kernel.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::record {
namespace {

using Call = ringbuf::FakeKernel::Call;

class AbilitiesTest : public testing::Test {
 protected:
  std::string Text() {
    std::string text;
    for (const Ability& ability : FindAbilities(kernel_, tree_.roots())) {
      absl::StrAppend(&text, ability.name, ability.works ? ": yes" : ": no",
                      ability.text.empty() ? "" : ", ", ability.text, "\n");
    }
    return text;
  }

  ringbuf::FakeKernel kernel_;
  procfs::FakeTree tree_;
};

TEST_F(AbilitiesTest, WhereTheKernelAllowsAllItIsSaid) {
  tree_.Write("proc/sys/kernel/perf_event_paranoid", "-1\n")
      .Write("proc/kallsyms", "ffffffff81000000 T _text\nffffffff82000000 T _etext\n")
      .Write("proc/mounts", "");
  EXPECT_EQ(Text().substr(0, Text().find("tracepoints")),
            "own programs: yes\n"
            "hardware counters: yes\n"
            "kernel code: yes\n"
            "all processes (-a): yes\n");
  EXPECT_NE(Text().find("kernel symbols: yes\nring memory: yes, no limit\n"), std::string::npos)
      << Text();
}

TEST_F(AbilitiesTest, WhatIsRefusedHasItsRemedy) {
  tree_.Write("proc/sys/kernel/perf_event_paranoid", "2\n")
      .Write("proc/sys/kernel/perf_event_mlock_kb", "516\n")
      .Write("proc/sys/kernel/kptr_restrict", "1\n");
  kernel_.FailCall(Call::kOpenEvent, 2, ENOENT);
  kernel_.FailCall(Call::kOpenEvent, 3, EACCES);
  kernel_.FailCall(Call::kOpenEvent, 4, EACCES);
  const std::string text = Text();
  for (const std::string line :
       {"own programs: yes\n",
        "hardware counters: no, this machine has none, or its host does not share them; cpu-clock "
        "is used instead\n",
        "kernel code: no, event kernel code: Permission denied; run as root, or `sudo sysctl "
        "kernel.perf_event_paranoid=1` (now 2)\n",
        "all processes (-a): no, recording all CPUs: Permission denied; run as root, give the "
        "program CAP_PERFMON, or `sudo sysctl kernel.perf_event_paranoid=0` (now 2)\n",
        "kernel symbols: no, run as root, or `sudo sysctl kernel.kptr_restrict=0 "
        "kernel.perf_event_paranoid=1` (now 1)\n",
        "ring memory: yes, 516 KiB per CPU; `sudo sysctl kernel.perf_event_mlock_kb=…` allows "
        "more\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << "no " << line << "in\n" << text;
  }
  EXPECT_EQ(kernel_.open_events(), 0u);
}

TEST_F(AbilitiesTest, SymbolsOfAKernelThatHidesNoneAreForThoseWhoMaySampleIt) {
  tree_.Write("proc/sys/kernel/perf_event_paranoid", "2\n")
      .Write("proc/sys/kernel/kptr_restrict", "0\n");
  EXPECT_NE(Text().find("kernel symbols: no, run as root, or `sudo sysctl "
                        "kernel.perf_event_paranoid=1` (now 2)\n"),
            std::string::npos)
      << Text();
}

}  // namespace
}  // namespace profiler::record
