// Counts events for as long as a command, other targets or a time goes on.
//
//   Run   fork ─► open counters ─► exec ─► … interval, interval … ─► end ─► read ─► StatResult
//         once more for each repetition; a command only can be repeated

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
#include "src/events/find_events.h"
#include "src/procfs/proc_file.h"
#include "src/target/command.h"
#include "src/target/control.h"
#include "src/target/targets.h"

namespace profiler::count {

struct StatOptions {
  target::Targets targets;
  std::vector<events::FoundEvent> events;  // at least one
  Aggregation aggregation = Aggregation::kAll;
  bool inherit = true;
  uint32_t repeat = 1;
  std::chrono::milliseconds interval{0};  // 0: the end alone
  uint32_t interval_count = 0;            // 0: as many as there are
  std::chrono::milliseconds delay{0};
  bool starts_disabled = false;                  // counting begins when `control` says so
  std::optional<target::ControlPlaces> control;  // who else may begin, interrupt and end it
  std::optional<std::chrono::milliseconds> timeout;
  procfs::Roots roots;
};

// What is printed in one line of each event: all places, one CPU, one thread …
struct CountRow {
  std::string name;           // "CPU3", "S0-D0-C3", "postgres-712"; empty: all together
  size_t places = 0;          // CPUs or threads in it
  std::vector<Count> counts;  // by event
};

struct CountTable {
  std::chrono::nanoseconds end{0};       // since counting began
  std::chrono::nanoseconds duration{0};  // of this interval, or of the whole
  std::vector<CountRow> rows;
};

struct StatRun {
  CountTable total;
  // Of the command and its children; zero without one.
  std::chrono::microseconds user_time{0}, system_time{0};
};

struct StatResult {
  std::vector<bool> supported;        // by event
  std::vector<bool> excludes_kernel;  // by event: for want of rights
  std::vector<StatRun> runs;          // at least one
  std::optional<target::Command::End> command;
  bool interrupted = false;     // by a signal, before the end
  bool stopped = false;         // by `control`: no further repetition
  bool counts_command = false;  // the command is what was counted
  // Lines for the user: what he would not expect.
  std::vector<std::string> notes;
};

// Called at the end of each interval, on Run's thread.
using IntervalSink = std::function<void(const StatResult& so_far, const CountTable& interval)>;

// One thread. SIGINT and SIGTERM end the count and are not handed on. Errors: kInvalidArgument for
// targets that do not go together and offline CPUs, kNotFound for processes and commands that are
// not there, those of CounterSet::Open and Control::Open.
absl::StatusOr<StatResult> RunStat(ringbuf::Kernel& kernel, const StatOptions& options,
                                   const IntervalSink& on_interval);

}  // namespace profiler::count
