// The counts of events in each thread, from READ records (`perf record -s`).

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "src/format/perf_data/read/recording.h"

namespace profiler::report {

// A collector of READ records. It takes them while the recording is read for other purposes,
// because a pipe can be read only once.
class ThreadCounters {
 public:
  // Takes a record; ignores types other than READ.
  void Take(const perf_data::Recording& recording, const perf_data::TimedRecord& timed);

  // Returns a table in the layout of `perf report -T` (Linux 7.2): a column for each event that was
  // read, and a line for each thread. If there are no READ records, the table has only headings.
  // Events are in the recording's order and threads in order of their ids; perf prints both in
  // order of arrival.
  std::string Text(const perf_data::Recording& recording) const;

 private:
  using Thread = std::pair<uint32_t, uint32_t>;  // pid and tid
  // Counts of each thread, keyed by the event's index. If there are several READ records of a
  // thread and event, their values are added up.
  std::map<Thread, std::map<uint32_t, uint64_t>> counts_;
};

}  // namespace profiler::report
