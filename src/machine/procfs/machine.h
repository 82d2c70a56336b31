// Reads the facts about this machine that a recording stores, and the kernel's limits on recording.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::procfs {

// Facts about the machine. Unknown strings are empty, unknown numbers are 0.
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

// The sysctls that decide what may be recorded; nullopt if the kernel lacks one.
struct PerfLimits {
  std::optional<int64_t> paranoid;  // kernel.perf_event_paranoid
  // kernel.perf_event_mlock_kb: ring memory per CPU and user.
  std::optional<int64_t> mlock_kb;
  std::optional<int64_t> max_sample_rate;  // kernel.perf_event_max_sample_rate, Hz
  std::optional<int64_t> max_stack;        // kernel.perf_event_max_stack, frames
  std::optional<int64_t> kptr_restrict;    // kernel.kptr_restrict
};
PerfLimits ReadPerfLimits(const Roots& roots);

// Returns the online CPUs, ascending. Error: kNotFound if /sys does not list them.
absl::StatusOr<std::vector<int>> OnlineCpus(const Roots& roots);

// Parses a list of CPUs: "0-2,5" → 0 1 2 5. Error: kInvalidArgument for other text and for numbers
// over 65 535.
absl::StatusOr<std::vector<int>> ParseCpuList(std::string_view text);

// Returns the capabilities that this process may use, effective or not
// (src/base/raised_capabilities.h), as bits (CAP_IPC_LOCK, …); 0 if unknown.
uint64_t PermittedCapabilities(const Roots& roots);

// True if this process runs as user 0. False if unknown.
bool IsRoot(const Roots& roots);

// True if this process sees only a part of the machine's processes, because it is in a PID
// namespace, for example in a container. False if unknown. The first namespace has the same number
// on every machine (PROC_PID_INIT_INO of include/linux/proc_ns.h, Linux 3.8 to 6.18).
bool IsInPidNamespace(const Roots& roots);

// True if this process is in a user namespace other than the first one, as in a rootless container.
// The kernel then ignores its capabilities for anything that concerns the whole machine. False if
// unknown. Source: PROC_USER_INIT_INO of include/linux/proc_ns.h, Linux 3.8 to 6.18.
bool IsInUserNamespace(const Roots& roots);

}  // namespace profiler::procfs
