// The workload of each process, read before the process is gone.
//
//   FORK  child gets its parent's ─┐
//   exec  /proc/PID/cgroup         ├──▶ table ──▶ NamesOf, when the window is named
//   EXIT  kept for a while         ┘              (if the process still runs: read again)
//
// A launcher moves a process to its own group before the process executes a program, so the group
// that is read at exec is the right one. Records are read within a tenth of a second. A process
// that ends before its exec is read keeps its parent's names.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "src/fleet/agent/workload_names.h"
#include "src/machine/procfs/proc_file.h"
#include "src/record/options.h"

namespace profiler::agent {

// A table of processes and their workloads. Thread-safe. Costs some hundred bytes per process, and
// some 20 µs for each program that is executed.
class ProcessTable final : public record::ProcessListener {
 public:
  explicit ProcessTable(procfs::Roots roots = {});

  void Began(uint32_t pid, uint32_t parent) override;
  void Runs(uint32_t pid) override;
  void Ended(uint32_t pid) override;

  // Returns the names of a process that runs, or that has ended and was not dropped by ForgetEnded.
  // Returns empty names for other processes. Threads of the kernel are the service "kernel".
  WorkloadNames NamesOf(uint32_t pid);

  // Drops the processes that had already ended at the previous call. Call it once per window, after
  // the window is named.
  void ForgetEnded();

  size_t size() const;

 private:
  using Names = std::shared_ptr<const WorkloadNames>;
  struct Process {
    Names names;       // null: not read
    uint32_t age = 0;  // number of calls of ForgetEnded since the process ended
    bool ended = false;
  };

  bool IsOfKernel(uint32_t pid) const;
  Names Read(uint32_t pid);

  const procfs::Roots roots_;
  const Names kernel_;
  const bool sees_kernel_threads_;
  mutable std::mutex mutex_;
  // mutex_ guards all members below.
  absl::flat_hash_map<uint32_t, Process> processes_;
  absl::flat_hash_map<std::string, Names> known_;  // keyed by the text of /proc/PID/cgroup
};

}  // namespace profiler::agent
