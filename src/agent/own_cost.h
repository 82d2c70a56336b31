// What this process and those that it has started cost the machine.

#pragma once

#include <chrono>
#include <cstdint>

#include "src/procfs/proc_file.h"

namespace profiler::agent {

struct OwnCost {
  std::chrono::nanoseconds cpu{0};  // since this process began, of all that it has started too
  // Bytes, now. Of pages that several processes share, these or others, each has its part (PSS): so
  // much would be free without us. Where the kernel does not say, it is as `resident`.
  uint64_t memory = 0;
  uint64_t resident = 0;  // bytes that are resident (RSS); shared pages count in each process
};

// Of this process, its children that run, and those that it has waited for. (What the kernel does
// in others to take their samples is theirs, and not in it.) Reads some files in /proc: a few ms.
// Thread-safe.
OwnCost ReadOwnCost(const procfs::Roots& roots = {});

}  // namespace profiler::agent
