// Loads the programs that run in the kernel at each sample and walk the frames of Python.
//
//   sample ──▶ gate: is the process known? ──▶ walk ──▶ record in the ring, before the sample
//
// The gate is loaded first. Walking is loaded when the first interpreter is met, because that takes
// some ten milliseconds. Both end with this object, or with this process, even if that is killed.

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "src/base/status.h"
#include "src/record/bpf/python_stack.h"

namespace profiler::record {

// The programs. Use it from one thread.
class Programs {
 public:
  virtual ~Programs() = default;

  // Loads the gate and returns its descriptor, to be set on events. Errors carry an errno: EPERM
  // without CAP_BPF and CAP_PERFMON, ENOSYS or EINVAL on kernels that lack a feature.
  virtual absl::StatusOr<int> LoadGate() = 0;
  // The event by which the programs write into the ring of a CPU.
  struct Output {
    int cpu = 0;
    int fd = -1;
  };
  // Loads the programs that walk. LoadGate must have succeeded. Errors: as LoadGate; ENOENT if the
  // kernel has no BTF.
  virtual absl::Status LoadWalk(std::span<const Output> outputs) = 0;

  // Walks the frames of a process from now on. Sets entry.thread_pointer itself. Errors: E2BIG if
  // too many processes are walked.
  virtual absl::Status Add(uint32_t pid, const PythonProcessEntry& entry) = 0;
  virtual void Remove(uint32_t pid) = 0;
};

// Returns the real programs; nothing is loaded yet.
std::unique_ptr<Programs> KernelPrograms();

}  // namespace profiler::record
