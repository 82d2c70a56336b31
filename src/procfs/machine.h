// What a recording says of the machine it was made on, and the kernel's limits on recording.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/procfs/proc_file.h"

namespace profiler::procfs {

// Strings are empty, and numbers 0, where the machine does not say.
struct MachineFacts {
  std::string hostname;
  std::string osrelease;  // "6.18.44"
  std::string arch;       // "x86_64"
  std::string cpudesc;    // "AMD EPYC"
  std::string cpuid;      // "AuthenticAMD,25,1,1": vendor, family, model, stepping
  uint32_t cpus_available = 0, cpus_online = 0;
  uint64_t total_mem_kb = 0;
};
MachineFacts ReadMachineFacts(const Roots& roots);

// The sysctls that decide what may be recorded; absent where the kernel has none.
struct PerfLimits {
  std::optional<int64_t> paranoid;         // kernel.perf_event_paranoid
  std::optional<int64_t> mlock_kb;         // kernel.perf_event_mlock_kb: ring memory a CPU, a user
  std::optional<int64_t> max_sample_rate;  // kernel.perf_event_max_sample_rate, Hz
  std::optional<int64_t> max_stack;        // kernel.perf_event_max_stack, frames
  std::optional<int64_t> kptr_restrict;    // kernel.kptr_restrict
};
PerfLimits ReadPerfLimits(const Roots& roots);

// CPUs that are online, ascending. kNotFound when /sys does not say.
absl::StatusOr<std::vector<int>> OnlineCpus(const Roots& roots);

// "0-2,5" → 0 1 2 5. kInvalidArgument for anything else, also for numbers over 65 535.
absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text);

// Capabilities that this process has, in force or not (src/base/raised_capabilities.h), as bits
// (CAP_IPC_LOCK, …); 0 when unknown.
uint64_t PermittedCapabilities(const Roots& roots);

// Whether this process sees a part of the machine's processes alone, in a PID namespace, as those
// in containers do. False when unknown. The first namespace has the same number on each machine
// (PROC_PID_INIT_INO of include/linux/proc_ns.h, Linux 3.8 to 6.18).
bool IsInPidNamespace(const Roots& roots);

}  // namespace profiler::procfs
