#include "src/doctor/machine_state.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/file_access.h"
#include "src/base/file_id.h"

namespace profiler::doctor {
namespace {

using procfs::ReadLine;
using procfs::ReadNumber;

// Returns the word in brackets: "none [integrity] confidentiality" is "integrity".
std::string Selected(const std::string& line) {
  const size_t start = line.find('[');
  const size_t end = line.find(']', start);
  return end == std::string::npos ? "" : line.substr(start + 1, end - start - 1);
}

// Returns the maker of a virtual machine. The processor's flag `hypervisor` tells that there is one.
std::string Hypervisor(const procfs::Roots& roots) {
  std::string text;
  const std::string type = ReadLine(roots.sys + "/hypervisor/type").value_or("");
  if (!type.empty()) return type;
  if (!procfs::ReadFile(roots.proc + "/cpuinfo", &text).ok()) return "";
  procfs::TextScanner flags(procfs::ValueOf(text, "flags").value_or(""));
  bool is_virtual = false;
  while (!flags.done()) is_virtual |= flags.Word() == "hypervisor";
  if (!is_virtual) return "";
  const std::string maker = ReadLine(roots.sys + "/class/dmi/id/sys_vendor").value_or("");
  return maker.empty() ? "unknown" : maker;
}

// True if a PMU of the CPU exists: `cpu`, `cpu_core` (hybrid Intel), or `armv8_pmuv3_0`. On x86,
// the kernel also registers `cpu` without any counter; trying an event decides.
bool HasCpuPmu(const procfs::Roots& roots) {
  const std::vector<std::string> names = NamesIn(roots.sys + "/bus/event_source/devices");
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv");
  });
}

struct Mounts {
  bool has_cgroup = false, has_cgroup2 = false;
};

// Reads lines like "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0".
Mounts ReadMounts(const procfs::Roots& roots) {
  Mounts mounts;
  procfs::ReadLines(roots.proc + "/mounts", [&](std::string_view line) {
    procfs::TextScanner words(line);
    words.Word();
    words.Word();
    const std::string_view type = words.Word();
    mounts.has_cgroup |= type == "cgroup";
    mounts.has_cgroup2 |= type == "cgroup2";
    return true;
  }).IgnoreError();
  return mounts;
}

}  // namespace

MachineState ReadMachineState(const procfs::Roots& roots) {
  const std::string kernel = roots.proc + "/sys/kernel/";
  const Mounts mounts = ReadMounts(roots);
  MachineState state;
  state.hypervisor = Hypervisor(roots);
  state.has_cpu_pmu = HasCpuPmu(roots);
  state.lockdown = Selected(ReadLine(roots.sys + "/kernel/security/lockdown").value_or(""));
  state.security_modules = ReadLine(roots.sys + "/kernel/security/lsm").value_or("");
  state.ptrace_scope = ReadNumber(kernel + "yama/ptrace_scope");
  state.bpf_disabled = ReadNumber(kernel + "unprivileged_bpf_disabled");
  state.has_btf = FileIdOf(roots.sys + "/kernel/btf/vmlinux").has_value();
  state.cpu_time_percent = ReadNumber(kernel + "perf_cpu_time_max_percent");
  state.clock_source =
      ReadLine(roots.sys + "/devices/system/clocksource/clocksource0/current_clocksource")
          .value_or("");
  state.cgroup_version = mounts.has_cgroup2 ? 2 : mounts.has_cgroup ? 1 : 0;
  std::string status;
  if (procfs::ReadFile(roots.proc + "/self/status", &status).ok()) {
    state.has_filter = procfs::ValueOf(status, "Seccomp").value_or("0") == "2";
  }
  state.in_pid_namespace = procfs::IsInPidNamespace(roots);
  state.in_user_namespace = procfs::IsInUserNamespace(roots);
  return state;
}

}  // namespace profiler::doctor
