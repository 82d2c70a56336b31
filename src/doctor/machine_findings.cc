#include "src/doctor/machine_findings.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/base/file_id.h"
#include "src/base/raised_capabilities.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/attr_codec.h"
#include "src/machine/events/list_events.h"
#include "src/machine/events/tracepoints.h"
#include "src/machine/procfs/kernel_map.h"
#include "src/machine/procfs/machine.h"
#include "src/machine/target/refusal.h"
#include "src/record/ring_size.h"

namespace profiler::doctor {
namespace {

using target::NowIs;
using target::Remedy;

constexpr uint64_t kUserOnly =
    perf_event::kAttrExcludeKernel | uint64_t{perf_event::kAttrExcludeHv};

perf_event::Attr EventOf(uint32_t type, uint64_t config, uint64_t excluded) {
  perf_event::Attr attr;
  attr.size = sizeof(perf_event_attr);
  attr.type = type;
  attr.config = config;
  attr.flags = perf_event::kAttrDisabled | excluded;
  return attr;
}

Finding Works(std::string id, std::string name, std::string text = "") {
  return {std::move(id), std::move(name), State::kWorks, std::move(text), {}};
}

// The examination of one machine. Each function returns one finding.
class Examination {
 public:
  Examination(ringbuf::Kernel& kernel, const procfs::Roots& roots, const FilteredCalls& filtered,
              const naming::NamingHere& naming)
      : kernel_(kernel),
        roots_(roots),
        filtered_(filtered),
        naming_(naming),
        rights_(target::ReadPerfRights(roots, kernel.IsCallFiltered())),
        state_(ReadMachineState(roots)) {}

  std::vector<FindingGroup> Find() {
    return {{"Recording",
             {OwnPrograms(), KernelCode(), AllProcesses(), Counters(), BranchStacks(),
              Tracepoints(), Probes()}},
            {"Call chains and names",
             {KernelSymbols(), OtherMemory(), Interpreters(), Sandbox(), Debuginfod()}},
            {"Limits", {RingMemory(), Descriptors(), SampleRate(), StackDepth()}},
            {"This machine",
             {SystemCalls(), SecurityModules(), Lockdown(), Namespaces(), Cgroups(), Clock()}}};
  }

 private:
  // Tries to open the event. Returns 0, or an error number.
  int Try(const perf_event::Attr& attr, pid_t pid, int cpu) {
    return ErrnoOf(kernel_.OpenEvent(perf_event::ToKernelAttr(attr), pid, cpu, -1).status());
  }

  Finding Refused(std::string id, std::string name, int error, bool system_wide) const {
    if (error == ENOSYS) {
      return {std::move(id),
              std::move(name),
              State::kMissing,
              "the kernel has no perf_event_open (CONFIG_PERF_EVENTS)",
              {}};
    }
    if (!target::IsRefusal(error)) {
      const absl::Status status = ErrnoStatus(error, "perf_event_open");
      return {std::move(id), std::move(name), State::kMissing, std::string(status.message()), {}};
    }
    target::Refusal refusal = target::FindRefusal({.system_wide = system_wide}, rights_);
    if (refusal.cause.empty()) {
      refusal.cause =
          absl::StrCat("kernel.perf_event_paranoid forbids it", NowIs(rights_.limits.paranoid));
    }
    return {std::move(id), std::move(name), State::kMissing, std::move(refusal.cause),
            std::move(refusal.remedies)};
  }

  Finding TryClock(std::string id, std::string name, uint64_t excluded, pid_t pid, int cpu) {
    const int error = Try(EventOf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, excluded), pid, cpu);
    if (error == 0) return Works(std::move(id), std::move(name));
    return Refused(std::move(id), std::move(name), error, pid == -1);
  }
  Finding OwnPrograms() { return TryClock("own-programs", "own programs", kUserOnly, 0, -1); }
  Finding KernelCode() { return TryClock("kernel-code", "kernel code", 0, 0, -1); }
  Finding AllProcesses() { return TryClock("all-processes", "all processes (-a)", 0, -1, 0); }

  Finding Counters() {
    const int error = Try(EventOf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, kUserOnly), 0, -1);
    if (error == 0) return Works("hardware-counters", "hardware counters");
    if (!target::IsMissing(error)) {
      return Refused("hardware-counters", "hardware counters", error, false);
    }
    Finding finding{"hardware-counters", "hardware counters", State::kMissing, "", {}};
    if (state_.hypervisor.empty()) {
      finding.text = "the kernel found no counters; cpu-clock takes their place";
    } else {
      finding.text = absl::StrCat("the host of this virtual machine (", state_.hypervisor,
                                  ") lends it no counters; cpu-clock takes their place");
      finding.remedies = {
          {"enable the virtual machine's PMU on its host (QEMU: -cpu host,pmu=on)", "", ""}};
    }
    return finding;
  }

  Finding BranchStacks() {
    perf_event::Attr attr = EventOf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, kUserOnly);
    attr.sample_period = 1'000'000;
    attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
    const int error = Try(attr, 0, -1);
    if (error == 0) return Works("branch-stacks", "branch stacks (-b)");
    if (target::IsRefusal(error))
      return Refused("branch-stacks", "branch stacks (-b)", error, false);
    return {"branch-stacks",
            "branch stacks (-b)",
            State::kMissing,
            "they need hardware counters and a CPU that records its last branches",
            {}};
  }

  Finding Tracepoints() {
    std::string note;  // FindTracing gives the reason
    const size_t count = events::ListEvents(roots_, "tracepoint", &note).size();
    if (count != 0) return Works("tracepoints", "tracepoints", absl::StrCat(count, " events"));
    Finding finding{"tracepoints", "tracepoints", State::kMissing, "the kernel has none", {}};
    const events::TracingAccess tracing = events::FindTracing(roots_);
    if (tracing.directory.empty()) {
      finding.text = "tracefs is not mounted";
      finding.remedies = {{"mount it", tracing.command, ""}};
    } else if (tracing.error != 0) {
      finding.text = "this user may not read " + tracing.directory;
      finding.remedies = {target::MoreRights(rights_, "DAC_READ_SEARCH"),
                          {"let this user's group read it", tracing.command,
                           "The group sees what the kernel traces."}};
    }
    return finding;
  }

  Finding Probes() {
    if (FileIdOf(roots_.sys + "/bus/event_source/devices/uprobe/type")) {
      if ((rights_.capabilities & kCapSysAdmin) != 0 && !rights_.in_user_namespace) {
        return Works("probes", "probes in programs");
      }
      return {"probes",
              "probes in programs",
              State::kMissing,
              "the kernel wants CAP_SYS_ADMIN for them",
              {target::MoreRights(rights_, "SYS_ADMIN")}};
    }
    return {"probes",
            "probes in programs",
            State::kMissing,
            "the kernel has no uprobes (CONFIG_UPROBE_EVENTS)",
            {}};
  }

  Finding KernelSymbols() {
    if (procfs::FindKernelText(roots_)) return Works("kernel-symbols", "kernel symbols");
    Finding finding{"kernel-symbols",
                    "kernel symbols",
                    State::kMissing,
                    absl::StrCat("kernel.kptr_restrict hides their addresses",
                                 NowIs(rights_.limits.kptr_restrict)),
                    {target::MoreRights(rights_, "SYSLOG")}};
    // With kptr_restrict 0, users who may sample the kernel see its addresses, as in
    // kallsyms_for_perf() (kernel/ksyms_common.c, Linux 6.6). With 2, nobody sees them.
    const int64_t restrict = rights_.limits.kptr_restrict.value_or(0);
    if (restrict == 0 && rights_.limits.paranoid.value_or(2) > 1) {
      finding.text = absl::StrCat("kernel.perf_event_paranoid hides their addresses",
                                  NowIs(rights_.limits.paranoid));
    }
    if (restrict >= 2) finding.remedies.clear();
    std::string command = "sudo sysctl";
    if (restrict != 0) absl::StrAppend(&command, " kernel.kptr_restrict=", restrict >= 2 ? 1 : 0);
    if (restrict < 2) absl::StrAppend(&command, " kernel.perf_event_paranoid=1");
    finding.remedies.push_back(
        {absl::StrCat("`", command, "`"), command,
         restrict >= 2 ? "Until the next boot, root can read the kernel's addresses."
                       : "Until the next boot, all users can read the kernel's addresses, which "
                         "helps attacks on the kernel."});
    return finding;
  }

  // Reading another process's memory gives frames of Java and Node.js, and stacks of waiting
  // threads.
  Finding OtherMemory() {
    Finding finding{"other-memory",
                    "memory of processes",
                    State::kWorks,
                    "for Java, Node.js, and stacks of waiting threads",
                    {}};
    if (filtered_.process_vm_readv) {
      finding.state = State::kMissing;
      finding.text = "a system call filter (seccomp) denies process_vm_readv";
      finding.remedies = {{"start the container with CAP_SYS_PTRACE",
                           "docker run --cap-add SYS_PTRACE …",
                           "The container may read the memory of its processes."}};
      return finding;
    }
    const bool may_read_all =
        (rights_.capabilities & kCapSysPtrace) != 0 && !rights_.in_user_namespace;
    const int64_t scope = state_.ptrace_scope.value_or(0);
    if (may_read_all && scope < 3) return finding;
    finding.state = State::kLimited;
    finding.text = "only of your own processes";
    finding.remedies = {target::MoreRights(rights_, "SYS_PTRACE")};
    if (scope > 0) {
      finding.text = "only of commands that the recorder starts: Yama forbids the rest";
      absl::StrAppend(&finding.text, " (kernel.yama.ptrace_scope is ", scope, ")");
      if (scope < 3) {
        finding.remedies.push_back({"`sudo sysctl kernel.yama.ptrace_scope=0`",
                                    "sudo sysctl kernel.yama.ptrace_scope=0",
                                    "Each user's processes may read each other's memory."});
      } else {
        finding.remedies = {
            {"set kernel.yama.ptrace_scope in /etc/sysctl.d and reboot: 3 cannot be "
             "lowered while the system runs",
             "", ""}};
      }
    }
    return finding;
  }

  // BPF programs read interpreters' frames at the sample.
  Finding Interpreters() {
    Finding finding{"bpf", "BPF programs", State::kMissing, "", {}};
    const bool has_right = (rights_.capabilities & (kCapBpf | kCapSysAdmin)) != 0 &&
                           (rights_.capabilities & (kCapPerfmon | kCapSysAdmin)) != 0;
    if (filtered_.bpf) {
      finding.text = "a system call filter (seccomp) denies bpf";
      finding.remedies = {{"start the container with CAP_BPF and CAP_PERFMON",
                           "docker run --cap-add BPF --cap-add PERFMON …",
                           "The container may load programs into the host's kernel."}};
    } else if (!state_.has_btf) {
      finding.text = "the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)";
    } else if (state_.lockdown == "confidentiality") {
      finding.text = "lockdown forbids programs that read memory";
    } else if (rights_.in_user_namespace) {
      finding.text = "the kernel ignores capabilities of a user namespace for BPF";
      finding.remedies = {{"record from the host, as root", "", ""}};
    } else if (!has_right) {
      finding.text = "they need CAP_BPF and CAP_PERFMON";
      finding.remedies = {target::MoreRights(rights_, "BPF")};
    } else if (filtered_.bpf_load != 0) {
      finding.text = absl::StrCat("the kernel refuses a program: ", strerror(filtered_.bpf_load));
    } else {
      finding.state = State::kWorks;
    }
    return finding;
  }

  Finding Sandbox() const {
    if (!naming_.confinement.ok()) {
      return {"sandbox",
              "sandbox for names",
              State::kMissing,
              std::string(naming_.confinement.message()),
              {{"read files without it", "profiler report --no-sandbox",
                "A malicious file that was recorded may use all your rights."}}};
    }
    if (naming_.has_landlock) return Works("sandbox", "sandbox for names");
    return {"sandbox",
            "sandbox for names",
            State::kLimited,
            "only a seccomp filter, because the kernel has no Landlock",
            {}};
  }

  Finding Debuginfod() const {
    if (naming_.servers.empty()) {
      return {"debuginfod",
              "debuginfod",
              State::kMissing,
              "$DEBUGINFOD_URLS names no server",
              {{"name the servers of your distribution", "export DEBUGINFOD_URLS=…",
                "The servers learn the build-ids of the images that you record."}}};
    }
    if (naming_.fetching.ok()) return Works("debuginfod", "debuginfod");
    return {
        "debuginfod", "debuginfod", State::kMissing, std::string(naming_.fetching.message()), {}};
  }

  Finding RingMemory() const {
    if (record::MayLockMemory(rights_.limits, rights_.capabilities)) {
      return Works("ring-memory", "ring memory", "no limit");
    }
    rlimit locked{};
    getrlimit(RLIMIT_MEMLOCK, &locked);
    Finding finding{"ring-memory", "ring memory", State::kLimited, "", {}};
    finding.text = absl::StrCat(rights_.limits.mlock_kb.value_or(0), " KiB per CPU for each user");
    if (locked.rlim_cur == RLIM_INFINITY) {
      finding.text += ", and no limit on locked memory";
    } else {
      absl::StrAppend(&finding.text, ", and ", locked.rlim_cur / 1024,
                      " KiB of locked memory per process");
    }
    finding.remedies = {{"`sudo sysctl kernel.perf_event_mlock_kb=4096`",
                         "sudo sysctl kernel.perf_event_mlock_kb=4096",
                         "Each user may lock up to 4 MiB per CPU in memory."}};
    return finding;
  }

  Finding Descriptors() {
    const uint64_t soft = kernel_.FileLimit();
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const auto cpus = procfs::OnlineCpus(roots_);
    const size_t count = cpus.ok() ? cpus->size() : 1;
    std::string text = absl::StrCat(soft, ", up to ", limit.rlim_max,
                                    "; attaching takes one per event, thread and CPU");
    const uint64_t threads = limit.rlim_max / (2 * count);
    if (threads >= 1000) return Works("descriptors", "open files", std::move(text));
    return {"descriptors",
            "open files",
            State::kLimited,
            absl::StrCat(text, ": enough for ", threads, " threads"),
            {{"raise the hard limit", "ulimit -Hn 65536", ""}}};
  }

  Finding SampleRate() const {
    const int64_t rate = rights_.limits.max_sample_rate.value_or(0);
    std::string text = absl::StrCat("at most ", rate, " per second and CPU");
    if (rate == 0 || rate >= 10'000) return Works("sample-rate", "samples", std::move(text));
    // The kernel lowers this limit by itself if samples take too much time.
    return {"sample-rate",
            "samples",
            State::kLimited,
            std::move(text),
            {{"`sudo sysctl kernel.perf_event_max_sample_rate=100000`",
              "sudo sysctl kernel.perf_event_max_sample_rate=100000",
              "Recordings may take more of the CPU."}}};
  }

  Finding StackDepth() const {
    const int64_t depth = rights_.limits.max_stack.value_or(127);
    return Works("stack-depth", "call chains",
                 absl::StrCat(depth, " frames by frame pointers (kernel.perf_event_max_stack)"));
  }

  Finding SystemCalls() const {
    std::vector<std::string> denied;
    if (rights_.is_filtered) denied.push_back("perf_event_open");
    if (filtered_.bpf) denied.push_back("bpf");
    if (filtered_.ptrace) denied.push_back("ptrace");
    if (filtered_.process_vm_readv) denied.push_back("process_vm_readv");
    if (!denied.empty()) {
      return {"seccomp",
              "system call filter",
              State::kMissing,
              absl::StrCat("denies ", absl::StrJoin(denied, ", ")),
              {}};
    }
    return Works("seccomp", "system call filter",
                 state_.has_filter ? "denies nothing that is needed" : "none");
  }

  Finding SecurityModules() const {
    return Works("lsm", "security modules",
                 state_.security_modules.empty() ? "unknown" : state_.security_modules);
  }

  Finding Lockdown() const {
    if (state_.lockdown != "integrity" && state_.lockdown != "confidentiality") {
      return Works("lockdown", "lockdown", state_.lockdown.empty() ? "none" : state_.lockdown);
    }
    const bool reads_nothing = state_.lockdown == "confidentiality";
    return {"lockdown",
            "lockdown",
            State::kLimited,
            absl::StrCat(state_.lockdown,
                         reads_nothing
                             ? ": no registers at interrupts, no BPF programs that read memory"
                             : ": recording is not affected"),
            {}};
  }

  Finding Namespaces() const {
    std::vector<std::string> own;
    if (state_.in_pid_namespace) own.push_back("PID");
    if (state_.in_user_namespace) own.push_back("user");
    if (own.empty()) return Works("namespaces", "namespaces", "shared with the machine");
    return {"namespaces",
            "namespaces",
            State::kLimited,
            absl::StrCat("own ", absl::StrJoin(own, " and "),
                         " namespace, as in a container: processes outside are not visible"),
            {{"record from the host", "", ""}}};
  }

  Finding Cgroups() const {
    if (state_.cgroup_version == 0) {
      return {"cgroups", "cgroups", State::kMissing, "no cgroups are mounted", {}};
    }
    return Works("cgroups", "cgroups", absl::StrCat("version ", state_.cgroup_version));
  }

  Finding Clock() const {
    if (state_.clock_source.empty()) {
      return {"clock", "clock", State::kUnknown, "the clock source is unknown", {}};
    }
    const bool is_slow = state_.clock_source == "hpet" || state_.clock_source == "acpi_pm";
    return {"clock",
            "clock",
            is_slow ? State::kLimited : State::kWorks,
            absl::StrCat(state_.clock_source,
                         is_slow ? ": reading it is slow, so samples cost more" : ""),
            {}};
  }

  ringbuf::Kernel& kernel_;
  const procfs::Roots& roots_;
  const FilteredCalls& filtered_;
  const naming::NamingHere& naming_;
  const target::PerfRights rights_;
  const MachineState state_;
};

// Loads a program that returns 0, and removes it again. Returns the errno; 0: it was loaded.
int ErrnoOfProgram() {
  static constexpr bpf_insn kProgram[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
                                          {.code = BPF_JMP | BPF_EXIT}};
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
  attr.insns = reinterpret_cast<uint64_t>(kProgram);
  attr.insn_cnt = std::size(kProgram);
  attr.license = reinterpret_cast<uint64_t>("GPL");
  const UniqueFd program(static_cast<int>(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr))));
  return program.valid() ? 0 : errno;
}

bool IsDenied(long result) { return result == -1 && (errno == EPERM || errno == EACCES); }

}  // namespace

FilteredCalls FindFilteredCalls(const procfs::Roots& roots) {
  FilteredCalls calls;
  // Too large a size; E2BIG. Older kernels check rights first, so only a denial despite the rights
  // proves a filter.
  constexpr unsigned kTooLarge = 1 << 20;
  const RaisedCapabilities raised(kCapBpf | kCapPerfmon);
  static const char kZeros[64] = {};
  const bool has_right =
      (procfs::PermittedCapabilities(roots) & (kCapBpf | kCapSysAdmin)) != 0 ||
      procfs::ReadNumber(roots.proc + "/sys/kernel/unprivileged_bpf_disabled").value_or(1) == 0;
  calls.bpf = IsDenied(syscall(SYS_bpf, 0, kZeros, kTooLarge)) && has_right &&
              !procfs::IsInUserNamespace(roots);
  calls.bpf_load = ErrnoOfProgram();
  // No process has this number; ESRCH.
  calls.ptrace = IsDenied(ptrace(PTRACE_PEEKDATA, INT_MAX, nullptr, nullptr));
  // An unknown flag; EINVAL.
  iovec nothing{};
  calls.process_vm_readv =
      IsDenied(syscall(SYS_process_vm_readv, getpid(), &nothing, 1, &nothing, 1, ~0UL));
  return calls;
}

std::vector<FindingGroup> FindOnMachine(ringbuf::Kernel& kernel, const procfs::Roots& roots,
                                        const FilteredCalls& filtered,
                                        const naming::NamingHere& naming) {
  return Examination(kernel, roots, filtered, naming).Find();
}

}  // namespace profiler::doctor
