// Facts about this machine and this process that decide what can be recorded. They are read from
// /proc and /sys, without trying anything.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/machine/procfs/machine.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::doctor {

// Unknown strings are empty.
struct MachineState {
  std::string
      hypervisor;  // "KVM", "VMware, Inc. …", or "unknown" for a virtual machine; empty: none
  bool has_cpu_pmu = false;                 // True if the kernel registered a PMU of the CPU.
  std::string lockdown;                     // "none", "integrity" or "confidentiality"
  std::string security_modules;             // "lockdown,capability,yama,apparmor"
  std::optional<int64_t> ptrace_scope;      // kernel.yama.ptrace_scope
  std::optional<int64_t> bpf_disabled;      // kernel.unprivileged_bpf_disabled
  bool has_btf = false;                     // True if the kernel describes its own types.
  std::optional<int64_t> cpu_time_percent;  // kernel.perf_cpu_time_max_percent
  std::string clock_source;                 // "tsc", "kvm-clock", …
  int cgroup_version = 0;                   // 0: no cgroups are mounted
  bool has_filter = false;                  // True if this process has a seccomp filter.
  bool in_pid_namespace = false;
  bool in_user_namespace = false;
};

// Reads the facts. Takes less than a millisecond.
MachineState ReadMachineState(const procfs::Roots& roots);

}  // namespace profiler::doctor
