// A profile's rows by thread, in order of time, for formats that have a list of samples per thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::exports {

// The rows of a thread under all its names.
struct ThreadRows {
  uint32_t pid = 0, tid = 0;
  std::string name;            // the last name
  std::string process_name;    // name of the thread whose tid is the pid, if known
  std::vector<uint32_t> rows;  // indices of Profile::rows, sorted by time if times are kept
};

// Returns the rows of `event`, sorted by pid; the main thread comes first in each process. Threads
// without such rows are left out. Takes linear time, except for sorting.
std::vector<ThreadRows> RowsByThread(const profile::Profile& profile, profile::EventId event);

// True if rows have times: Dimension::kTime is kept, and some row has a time.
bool HasTimes(const profile::Profile& profile);

// Returns the time of a row, in nanoseconds of the samples' clock; 0 if times are not kept.
inline uint64_t TimeOf(const profile::Profile& profile, uint32_t row) {
  const HugeVector<uint32_t>& times = profile.column(profile::Dimension::kTime);
  return times.empty() ? 0 : profile.quanta.begins[times[row]];
}

// Returns the events that have rows, in their order.
std::vector<profile::EventId> EventsWithRows(const profile::Profile& profile);

}  // namespace profiler::exports
