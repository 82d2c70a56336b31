// Sums up how the threads of a recording with --off-cpu spent it.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/procfs/proc_file.h"
#include "src/record/off_cpu_stage.h"
#include "src/record/options.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::record {

// How long threads have waited on CPUs' run queues so far, in ns, by thread: after they were
// preempted, and after what they waited for had come. Source: proc_pid_schedstat in fs/proc/base.c,
// Linux 6.18. Threads that are gone, and kernels without schedstat, have none.
using RunDelays = absl::flat_hash_map<uint32_t, uint64_t>;
RunDelays ReadRunDelays(const procfs::Roots& roots, const std::vector<ThreadTimes>& threads);

// Takes what was added between `paused` and `resumed` out of what comes after `*before`.
void LeaveOut(const RunDelays& paused, const RunDelays& resumed, RunDelays* before);

// `before` and `after`: run delays when counting began (of threads that were there) and when it
// ended. `kernel`: for what the kernel's part of chains says of system calls; null: not known.
ThreadStates SumStates(const OffCpuStage& stage, const RunDelays& before, const RunDelays& after,
                       const symbolize::SymbolTable* kernel);

}  // namespace profiler::record
