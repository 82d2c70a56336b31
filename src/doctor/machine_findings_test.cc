#include "src/doctor/machine_findings.h"

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ringbuf/testing/fake_kernel.h"
#include "src/doctor/print_findings.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::doctor {
namespace {

using Call = ringbuf::FakeKernel::Call;

constexpr size_t kOneLine = 1000;

class MachineFindingsTest : public testing::Test {
 protected:
  MachineFindingsTest() { naming_.has_landlock = true; }

  std::string Text() {
    return FindingsText(FindOnMachine(kernel_, tree_.roots(), filtered_, naming_), kOneLine);
  }
  // Returns the finding of that name with its remedies.
  std::string FindingOf(const std::string& name) {
    const std::string text = Text();
    const size_t start = text.find(absl::StrCat(" ", name));
    if (start == std::string::npos) return "no " + name + " in\n" + text;
    const size_t line = text.rfind('\n', start) + 1;
    size_t end = text.find('\n', line) + 1;
    while (text.compare(end, 13, "           - ") == 0) end = text.find('\n', end) + 1;
    return text.substr(line, end - line);
  }

  ringbuf::FakeKernel kernel_;
  procfs::FakeTree tree_;
  FilteredCalls filtered_;
  naming::NamingHere naming_;
};

TEST_F(MachineFindingsTest, EventsThatTheKernelPermitsWork) {
  tree_.Write("proc/sys/kernel/perf_event_paranoid", "-1\n")
      .Write("proc/kallsyms", "ffffffff81000000 T _text\nffffffff82000000 T _etext\n")
      .Write("proc/mounts", "");
  EXPECT_EQ(Text().substr(0, Text().find("tracepoints")),
            "Recording\n"
            "  yes      own programs\n"
            "  yes      kernel code\n"
            "  yes      all processes (-a)\n"
            "  yes      hardware counters\n"
            "  yes      branch stacks (-b)\n"
            "  no       ");
  EXPECT_EQ(FindingOf("kernel symbols"), "  yes      kernel symbols\n");
  EXPECT_EQ(FindingOf("ring memory"), "  yes      ring memory: no limit\n");
  EXPECT_EQ(kernel_.open_events(), 0u);
}

TEST_F(MachineFindingsTest, ARefusalByTheSysctlNamesTheNarrowestRemedyFirst) {
  tree_.Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  kernel_.FailCall(Call::kOpenEvent, 2, EACCES);
  kernel_.FailCall(Call::kOpenEvent, 3, EACCES);
  EXPECT_EQ(FindingOf("all processes (-a)"),
            "  no       all processes (-a): kernel.perf_event_paranoid forbids it (now 2)\n"
            "           - run as root: `sudo profiler …`\n"
            "           - give the program CAP_PERFMON: `sudo setcap cap_perfmon=p PATH/profiler`. "
            "Risk: Everybody who may run this copy may observe the kernel and all processes.\n"
            "           - `sudo sysctl kernel.perf_event_paranoid=0` (now 2). Risk: All users may "
            "observe all CPUs until the next boot.\n");
}

TEST_F(MachineFindingsTest, DebiansSysctlForbidsEvenOwnPrograms) {
  for (const std::string paranoid : {"3", "4"}) {
    tree_.Write("proc/sys/kernel/perf_event_paranoid", paranoid);
    for (uint64_t call = 1; call <= 3; ++call) kernel_.FailCall(Call::kOpenEvent, call, EACCES);
    EXPECT_EQ(
        FindingOf("own programs"),
        absl::StrCat("  no       own programs: kernel.perf_event_paranoid forbids it (now ",
                     paranoid, ")\n           - run as root: `sudo profiler …`\n",
                     "           - `sudo sysctl kernel.perf_event_paranoid=2` (now ", paranoid,
                     "). Risk: All users may record their own programs until the next "
                     "boot.\n"));
  }
}

TEST_F(MachineFindingsTest, RootWithoutACapabilityIsNotToldToRunAsRoot) {
  tree_.Write("proc/self/status", "Uid:\t0\t0\t0\t0\nCapPrm:\t0\n")
      .Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  kernel_.FailCall(Call::kOpenEvent, 3, EACCES);
  EXPECT_EQ(FindingOf("all processes (-a)"),
            "  no       all processes (-a): kernel.perf_event_paranoid forbids it (now 2)\n"
            "           - give this container or service CAP_PERFMON, which it lacks although it "
            "runs as root: `docker run --cap-add PERFMON …`\n"
            "           - `sudo sysctl kernel.perf_event_paranoid=0` (now 2). Risk: All users may "
            "observe all CPUs until the next boot.\n");
}

TEST_F(MachineFindingsTest, AFilterOfSystemCallsIsTheCauseEvenForRoot) {
  tree_.Write("proc/self/status", "CapPrm:\t000001ffffffffff\nSeccomp:\t2\n");
  kernel_.FilterCalls(EPERM);
  EXPECT_EQ(
      FindingOf("own programs").substr(0, FindingOf("own programs").find('\n')),
      "  no       own programs: a system call filter (seccomp) denies perf_event_open, as in a "
      "container");
  EXPECT_EQ(FindingOf("system call filter:"),
            "  no       system call filter: denies perf_event_open\n");
}

TEST_F(MachineFindingsTest, CapabilitiesOfAUserNamespaceDoNotCount) {
  tree_.Write("proc/self/status", "CapPrm:\t000001ffffffffff\n")
      .Link("proc/self/ns/user", "user:[4026532000]");
  kernel_.FailCall(Call::kOpenEvent, 3, EACCES);
  EXPECT_EQ(FindingOf("all processes (-a)").substr(0, 130),
            "  no       all processes (-a): this process has its capabilities only in a user "
            "namespace, as in a rootless container, and the ker");
}

TEST_F(MachineFindingsTest, ADenialDespiteAllCapabilitiesPointsToASecurityModule) {
  tree_.Write("proc/self/status", "CapPrm:\t000001ffffffffff\n");
  kernel_.FailCall(Call::kOpenEvent, 3, EACCES);
  EXPECT_NE(FindingOf("all processes (-a)").find("a security module (LSM)"), std::string::npos);
}

TEST_F(MachineFindingsTest, AVirtualMachineWithoutCountersIsNamed) {
  tree_.Write("proc/cpuinfo", "flags\t\t: fpu hypervisor lm\n")
      .Write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  kernel_.FailCall(Call::kOpenEvent, 4, ENOENT);
  EXPECT_EQ(FindingOf("hardware counters"),
            "  no       hardware counters: the host of this virtual machine (QEMU) lends it no "
            "counters; cpu-clock takes their place\n"
            "           - enable the virtual machine's PMU on its host (QEMU: -cpu host,pmu=on)\n");
}

TEST_F(MachineFindingsTest, KernelSymbolsNeedTheSysctlThatHidesThem) {
  tree_.Write("proc/sys/kernel/perf_event_paranoid", "2\n")
      .Write("proc/sys/kernel/kptr_restrict", "0\n");
  EXPECT_NE(FindingOf("kernel symbols").find("`sudo sysctl kernel.perf_event_paranoid=1`"),
            std::string::npos)
      << FindingOf("kernel symbols");
  tree_.Write("proc/sys/kernel/kptr_restrict", "2\n");
  EXPECT_EQ(FindingOf("kernel symbols"),
            "  no       kernel symbols: kernel.kptr_restrict hides their addresses (now 2)\n"
            "           - `sudo sysctl kernel.kptr_restrict=1`. Risk: Until the next boot, "
            "root can read the kernel's addresses.\n");
}

TEST_F(MachineFindingsTest, YamaLimitsWhoseMemoryIsRead) {
  tree_.Write("proc/sys/kernel/yama/ptrace_scope", "1\n");
  EXPECT_EQ(
      FindingOf("memory of processes"),
      "  limited  memory of processes: only of commands that the recorder starts: Yama forbids "
      "the rest (kernel.yama.ptrace_scope is 1)\n"
      "           - run as root: `sudo profiler …`\n"
      "           - `sudo sysctl kernel.yama.ptrace_scope=0`. Risk: Each user's processes may "
      "read each other's memory.\n");
}

TEST_F(MachineFindingsTest, ProgramsInTheKernelNeedRightsTypesAndNoLockdown) {
  EXPECT_EQ(FindingOf("BPF programs"),
            "  no       BPF programs: the kernel does not describe its types "
            "(CONFIG_DEBUG_INFO_BTF)\n");
  tree_.Write("sys/kernel/btf/vmlinux", "");
  EXPECT_EQ(FindingOf("BPF programs").substr(0, 57),
            "  no       BPF programs: they need CAP_BPF and CAP_PERFMO");
  tree_.Write("proc/self/status", "CapPrm:\t000001ffffffffff\n");
  EXPECT_EQ(FindingOf("BPF programs"), "  yes      BPF programs\n");
  filtered_.bpf_load = EPERM;
  EXPECT_EQ(FindingOf("BPF programs"),
            "  no       BPF programs: the kernel refuses a program: Operation not permitted\n");
  tree_.Write("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
  EXPECT_EQ(FindingOf("BPF programs"),
            "  no       BPF programs: lockdown forbids programs that read memory\n");
}

TEST_F(MachineFindingsTest, MissingTracefsHasTheCommandThatMountsIt) {
  tree_.Write("proc/mounts", "proc /proc proc rw 0 0\n");
  EXPECT_EQ(FindingOf("tracepoints"),
            "  no       tracepoints: tracefs is not mounted\n"
            "           - mount it: `sudo mount -t tracefs nodev /sys/kernel/tracing`\n");
}

TEST_F(MachineFindingsTest, TracefsMayBeClosedToUsers) {
  tree_.Write("tracing/README", "");  // and no events
  tree_.Write("proc/mounts", absl::StrCat("t ", tree_.path("tracing"), " tracefs rw 0 0\n"));
  EXPECT_EQ(
      FindingOf("tracepoints"),
      absl::StrCat("  no       tracepoints: this user may not read ", tree_.path("tracing"),
                   "\n"
                   "           - run as root: `sudo profiler …`\n"
                   "           - let this user's group read it: `sudo mount -o "
                   "remount,mode=750,gid=$(id -g) ",
                   tree_.path("tracing"), "`. Risk: The group sees what the kernel traces.\n"));
}

TEST(FilteredCallsTest, AProcessWithoutAFilterHasNone) {
  const FilteredCalls calls = FindFilteredCalls({});
  EXPECT_FALSE(calls.ptrace);
  EXPECT_FALSE(calls.process_vm_readv);
}

}  // namespace
}  // namespace profiler::doctor
