// Sums up how the threads spent the time of a recording with --off-cpu.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/machine/procfs/proc_file.h"
#include "src/record/off_cpu_stage.h"
#include "src/record/options.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::record {

// How long each thread has waited on run queues so far, in ns: after it was preempted, and after
// the event that it waited for. Keyed by tid. Source: proc_pid_schedstat in fs/proc/base.c, Linux
// 6.18. Ended threads have no entry, and no thread has one on kernels without schedstat.
using RunDelays = absl::flat_hash_map<uint32_t, uint64_t>;
RunDelays ReadRunDelays(const procfs::Roots& roots, const std::vector<ThreadTimes>& threads);

// Adds the delays between `paused` and `resumed` to `*before`, so that later differences to
// `*before` exclude the pause.
void LeaveOut(const RunDelays& paused, const RunDelays& resumed, RunDelays* before);

// Sums up the states. `before` and `after` are the run delays when counting began (of the threads
// that existed) and when it ended. `kernel` names the system calls in the kernel's part of chains;
// null: unknown.
ThreadStates SumStates(const OffCpuStage& stage, const RunDelays& before, const RunDelays& after,
                       const symbolize::SymbolTable* kernel);

}  // namespace profiler::record
