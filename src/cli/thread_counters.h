// What events counted in each thread, as READ records tell it (`perf record -s`).

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "src/perf_data/read/recording.h"

namespace profiler::cli {

// Takes a recording's records on their way, for what comes through a pipe can be read once only.
class ThreadCounters {
 public:
  // Any record; others than READ are passed over.
  void Take(const perf_data::Recording& recording, const perf_data::TimedRecord& timed);

  // A table in the layout of `perf report -T` (Linux 7.2): a column for each event that was read, a
  // line for each thread; the headings alone where no record told of any. Events are in the order
  // of the recording and threads in that of their ids, where perf has both as they came.
  std::string Text(const perf_data::Recording& recording) const;

 private:
  using Thread = std::pair<uint32_t, uint32_t>;  // pid and tid
  // By event. A thread may be read several times, and each time tells what came on top.
  std::map<Thread, std::map<uint32_t, uint64_t>> counts_;
};

}  // namespace profiler::cli
