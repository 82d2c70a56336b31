// Counts events while a command or other targets run, or for a given time.
//
//   Run   fork ─► open counters ─► exec ─► … interval, interval … ─► end ─► read ─► StatResult
//         once more for each repetition; only a command can be repeated

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ringbuf/kernel.h"
#include "src/base/status.h"
#include "src/count/counter_set.h"
#include "src/count/topology.h"
#include "src/machine/events/find_events.h"
#include "src/machine/procfs/proc_file.h"
#include "src/machine/target/child_command.h"
#include "src/machine/target/control.h"
#include "src/machine/target/targets.h"

namespace profiler::count {

struct StatOptions {
  target::Targets targets;
  std::vector<events::FoundEvent> events;  // at least one event
  Aggregation aggregation = Aggregation::kAll;
  bool inherit = true;
  uint32_t repeat = 1;
  std::chrono::milliseconds interval{0};  // 0: no intervals, only the end
  uint32_t interval_count = 0;            // number of intervals; 0: unlimited
  std::chrono::milliseconds delay{0};
  bool starts_disabled = false;                  // wait for `control` to begin counting
  std::optional<target::ControlPlaces> control;  // source of commands to begin, pause and end
  std::optional<std::chrono::milliseconds> timeout;
  procfs::Roots roots;
};

// The counts of all events in one row of the output. A row covers all places, or one CPU, core,
// socket, node or thread.
struct CountRow {
  std::string name;           // "CPU3", "S0-D0-C3", "postgres-712"; empty: all places
  size_t places = 0;          // number of CPUs or threads
  std::vector<Count> counts;  // one count per event
};

struct CountTable {
  std::chrono::nanoseconds end{0};       // end of the interval or run, since counting began
  std::chrono::nanoseconds duration{0};  // length of this interval, or of the whole run
  std::vector<CountRow> rows;
};

struct StatRun {
  CountTable total;
  // CPU time of the command and its children; zero without a command.
  std::chrono::microseconds user_time{0}, system_time{0};
};

struct StatResult {
  std::vector<bool> supported;  // one entry per event
  // One entry per event. True if the event counts only user space because the rights for the kernel
  // are missing.
  std::vector<bool> excludes_kernel;
  std::vector<StatRun> runs;  // one for each repetition, at least one
  std::optional<target::Command::End> command;
  bool interrupted = false;     // True if a signal ended the count early.
  bool stopped = false;         // True if `control` ended the count: no further repetition.
  bool counts_command = false;  // True if the command is the only target.
  // Lines for the user about unexpected results.
  std::vector<std::string> notes;
};

// Receives each interval at its end, on Run's thread.
using IntervalSink = std::function<void(const StatResult& so_far, const CountTable& interval)>;

// Counts the events. Call it from one thread. SIGINT and SIGTERM end the count and are not passed
// on. Errors: kInvalidArgument for incompatible targets or an offline CPU; kNotFound if a process
// or the command does not exist; the errors of CounterSet::Open and Control::Open.
absl::StatusOr<StatResult> RunStat(ringbuf::Kernel& kernel, const StatOptions& options,
                                   const IntervalSink& on_interval);

}  // namespace profiler::count
