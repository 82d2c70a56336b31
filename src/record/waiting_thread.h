// Reads the registers and the stack of a waiting thread of another process. Does not stop the
// thread, but proves that it did not run meanwhile.
//
//   switch count   registers   stack   registers   switch count
//   ────┴──────────────┴─────────┴─────────┴────────────┴──────▶
//       └───────── equal before and after, not running ─┘
//
// The kernel hands out registers only of a thread that is off the CPU at that moment. If the thread
// ran between the two reads, it has left its CPU once more, and its switch count has grown. So
// equal counts prove that it waited all the time.
//
// Sources: proc_pid_syscall in fs/proc/base.c and task_current_syscall in lib/syscall.c, Linux
// 6.18. /proc/PID/task/TID/syscall has "running" or a list of numbers. The list has the number of
// the system call (-1: none, as in a page fault), its six arguments if there is a call, the stack
// pointer and the program counter. Reading that file needs PTRACE_MODE_ATTACH. The switch counts
// are those of /proc/PID/task/TID/status.

#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/machine/procfs/proc_file.h"

namespace profiler::record {

struct WaitingThread {
  int64_t system_call = -1;
  std::array<uint64_t, 6> arguments{};  // arguments of the system call; zeroes without one
  uint64_t sp = 0, pc = 0;

  bool operator==(const WaitingThread&) const = default;
};

// Reads a thread once. Returns nothing if the thread runs, is gone, or may not be looked at.
std::optional<WaitingThread> ReadWaitingThread(const procfs::Roots& roots, uint32_t pid,
                                               uint32_t tid);

// Copies memory of the process from an address on, and returns the number of bytes that could be
// read.
using MemoryCopy = absl::FunctionRef<size_t(uint64_t address, std::span<std::byte> bytes)>;

// The state of a waiting thread at one time.
struct WaitingStack {
  WaitingThread thread;
  // Bytes from the stack pointer on; fewer than requested at the stack's end.
  std::vector<std::byte> bytes;
};

// Reads the thread's registers and up to `most` bytes of its stack. Returns false if the thread
// runs, is gone, may not be looked at, or ran in each of several attempts. `*stack` keeps its
// capacity.
bool ReadWaitingStack(const procfs::Roots& roots, uint32_t pid, uint32_t tid, size_t most,
                      MemoryCopy copy, WaitingStack* stack);

}  // namespace profiler::record
