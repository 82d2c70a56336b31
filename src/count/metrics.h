// What counts say together: instructions a cycle, misses of all accesses, events a second.

#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/count/stat_session.h"
#include "src/events/find_events.h"

namespace profiler::count {

struct Metric {
  double value = 0;
  std::string unit;  // "insn per cycle", "CPUs utilized", "M/sec"
};

// What is shown beside the count of `event` in this row, from the counts of the same row. Nothing
// where what it takes was not counted.
std::optional<Metric> MetricOf(const std::vector<events::FoundEvent>& events, const CountRow& row,
                               size_t event, std::chrono::nanoseconds duration);

// Ratios that can be asked for by name, and the events to count for one, as a group. kNotFound for
// an unknown one.
std::vector<std::string> MetricNames();
absl::StatusOr<std::string> EventsOfMetric(const std::string& name);

// Whether the event counts nanoseconds of a clock.
bool IsClock(const perf_event::Attr& attr);

}  // namespace profiler::count
