// A profile's rows by the thread that ran, in the order of time, for formats that have a list of
// samples a thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/profile/profile.h"

namespace profiler::exports {

// A thread under all its names.
struct ThreadRows {
  uint32_t pid = 0, tid = 0;
  std::string name;            // the last one
  std::string process_name;    // of the thread whose tid is the pid, if it is known
  std::vector<uint32_t> rows;  // indices of Profile::rows, by time where that is kept
};

// Of the rows of `event`; threads by pid, the process's first one in front of the others. Threads
// that have no such rows are left out. Linear, but for sorting.
std::vector<ThreadRows> RowsByThread(const profile::Profile& profile, profile::EventId event);

// Whether the rows say when they were sampled: Dimension::kTime is kept, and some row has a time.
bool HasTimes(const profile::Profile& profile);

// Nanoseconds of the samples' clock; 0 where times are not kept.
inline uint64_t TimeOf(const profile::Profile& profile, uint32_t row) {
  const HugeVector<uint32_t>& times = profile.column(profile::Dimension::kTime);
  return times.empty() ? 0 : profile.quanta.begins[times[row]];
}

// The events that have rows, in their order.
std::vector<profile::EventId> EventsWithRows(const profile::Profile& profile);

}  // namespace profiler::exports
