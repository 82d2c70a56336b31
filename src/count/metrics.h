// Derives metrics from counts: instructions per cycle, misses per access, events per second.

#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/count/stat_session.h"
#include "src/machine/events/find_events.h"

namespace profiler::count {

struct Metric {
  double value = 0;
  std::string unit;  // "insn per cycle", "CPUs utilized", "M/sec"
};

// Returns the metric that is shown beside the count of `event`, computed from the counts in `row`,
// which cover `duration`. Returns nothing if a count that it needs is missing.
std::optional<Metric> MetricOf(const std::vector<events::FoundEvent>& events, const CountRow& row,
                               size_t event, std::chrono::nanoseconds duration);

// MetricNames returns the ratios that -M accepts. EventsOfMetric returns the events of a ratio as a
// group to count; kNotFound for an unknown name.
std::vector<std::string> MetricNames();
absl::StatusOr<std::string> EventsOfMetric(const std::string& name);

// True if the event counts nanoseconds of a clock.
bool IsClock(const perf_event::Attr& attr);

}  // namespace profiler::count
