// Which workload each process belongs to, known before the process is gone.
//
//   FORK  child has its parent's ─┐
//   exec  /proc/PID/cgroup        ├──▶ table ──▶ NamesOf, when the window is named
//   EXIT  kept for a while        ┘              (of who runs still: as it is now)
//
// Whoever starts a process in a group of its own moves it there before it executes a program, so
// what is read then is what holds. A process that is gone before its records are read, a tenth of
// a second at most, has its parent's names.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "src/agent/workload_names.h"
#include "src/procfs/proc_file.h"
#include "src/record/options.h"

namespace profiler::agent {

// Thread-safe. Some hundred bytes a process; some 20 µs for each program that is executed.
class ProcessTable final : public record::ProcessListener {
 public:
  explicit ProcessTable(procfs::Roots roots = {});

  void Began(uint32_t pid, uint32_t parent) override;
  void Runs(uint32_t pid) override;
  void Ended(uint32_t pid) override;

  // Of a process that runs, or that ended after the last call of ForgetEnded but one; empty of
  // others. Threads of the kernel are the service "kernel".
  WorkloadNames NamesOf(uint32_t pid);

  // Once for each window, when it is named: processes that had ended at the call before are gone.
  void ForgetEnded();

  size_t size() const;

 private:
  using Names = std::shared_ptr<const WorkloadNames>;
  struct Process {
    Names names;       // null: nothing was read
    uint32_t age = 0;  // calls of ForgetEnded since it ended
    bool ended = false;
  };

  bool IsOfKernel(uint32_t pid) const;
  Names Read(uint32_t pid);

  const procfs::Roots roots_;
  const Names kernel_;
  const bool sees_kernel_threads_;
  mutable std::mutex mutex_;
  // Under mutex_.
  absl::flat_hash_map<uint32_t, Process> processes_;
  absl::flat_hash_map<std::string, Names> known_;  // by what /proc/PID/cgroup said
};

}  // namespace profiler::agent
