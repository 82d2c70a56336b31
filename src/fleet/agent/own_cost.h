// The resources that this process and its descendants use.

#pragma once

#include <chrono>
#include <cstdint>

#include "src/machine/procfs/proc_file.h"

namespace profiler::agent {

struct OwnCost {
  std::chrono::nanoseconds cpu{0};  // CPU time of this process and its descendants so far
  // Current proportional set size (PSS) in bytes: each process counts only its part of a shared
  // page. So about this much memory would be free without the agent. Equals `resident` if the
  // kernel does not report PSS.
  uint64_t memory = 0;
  uint64_t resident = 0;  // RSS in bytes; each process counts a shared page fully
};

// Measures this process, its running descendants, and the children it has waited for. CPU time that
// the kernel spends in other processes to take samples is not included. Reads some files in /proc:
// a few ms. Thread-safe.
OwnCost ReadOwnCost(const procfs::Roots& roots = {});

}  // namespace profiler::agent
