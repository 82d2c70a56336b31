// Where a thread of another process stands while it waits, without stopping it.
//
// Source: proc_pid_syscall in fs/proc/base.c, Linux 6.18: "running", or the number of the system
// call (-1: none, as in a page fault), six arguments where there is a call, stack pointer and
// program counter. Reading asks for PTRACE_MODE_ATTACH.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "src/procfs/proc_file.h"

namespace profiler::record {

struct WaitingThread {
  int64_t system_call = -1;
  uint64_t sp = 0, pc = 0;
};

// Nothing where the thread runs, is gone, or may not be looked at.
std::optional<WaitingThread> ReadWaitingThread(const procfs::Roots& roots, uint32_t pid,
                                               uint32_t tid);

}  // namespace profiler::record
