// Loads the programs that run in the kernel at each sample. One reads stacks that are larger than
// a sample can hold; others walk the frames of Python.
//
//   sample ──▶ gate ──▶ is the thread known?  ──▶ stack ─┐
//                  ├──▶ is the process known? ◀──────────┘
//                  └──────▶ walk                             each writes before the sample
//
// The gate is loaded first. The others are loaded when they are needed, because that takes some ten
// milliseconds. All end with this object, or with this process, even if that is killed.

#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "src/base/status.h"
#include "src/record/bpf/python_stack.h"
#include "src/record/bpf/stack_record.h"

namespace profiler::record {

// The programs. Use it from one thread.
class Programs {
 public:
  virtual ~Programs() = default;

  // Loads the gates. Errors carry an errno: EPERM without CAP_BPF and CAP_PERFMON, ENOSYS or EINVAL
  // on kernels that lack a feature. The descriptors are to be set on events; this object owns them.
  struct Gates {
    int samples = -1;
    int switches = -1;  // for context switches: no stacks are read
  };
  virtual absl::StatusOr<Gates> LoadGates() = 0;
  // The event by which the programs write into the ring of a CPU.
  struct Output {
    int cpu = 0;
    int fd = -1;
  };
  // Loads the programs that walk. LoadGates must have succeeded. Errors: as LoadGates; ENOENT if the
  // kernel has no BTF.
  virtual absl::Status LoadWalk(std::span<const Output> outputs) = 0;

  // Walks the frames of a process from now on. Sets entry.thread_pointer itself. Errors: E2BIG if
  // too many processes are walked.
  virtual absl::Status Add(uint32_t pid, const PythonProcessEntry& entry) = 0;
  virtual void Remove(uint32_t pid) = 0;

  // Loads the program that reads stacks. LoadGates must have succeeded. Errors: as LoadGates.
  virtual absl::Status LoadStack(std::span<const Output> outputs) = 0;
  // Reads the stack of a thread at each of its samples from now on, or in another way than before.
  // Errors: E2BIG if too many threads are followed.
  virtual absl::Status Follow(uint32_t tid, const FollowedThread& thread) = 0;
  virtual void Leave(uint32_t tid) = 0;
};

// Returns the real programs; nothing is loaded yet.
std::unique_ptr<Programs> KernelPrograms();

}  // namespace profiler::record
