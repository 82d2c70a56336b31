// Names the types of an event's values for receivers of OpenTelemetry's profiles.
//
//   event                    values                 samples are taken
//   cpu-clock, task-clock    cpu/nanoseconds        every N cpu/nanoseconds
//   offcpu-time, …           off_cpu/nanoseconds    at each context_switch/count
//   other times              EVENT/nanoseconds      every N EVENT/nanoseconds
//   others                   EVENT/count            every N EVENT/count
//
// Pyroscope (pkg/ingester/otlp/convert.go, 2026) converts samples whose period is cpu/nanoseconds
// to nanoseconds. It recognises off_cpu/nanoseconds by the missing period, and names all other
// profiles by the type of their period. If a profile has no period, Pyroscope refuses the whole
// request. Pyroscope puts ':' between the parts of a name, so '_' replaces ':' in event names.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::otlp {

struct EventTypes {
  std::string type;                      // type of the values
  std::string unit;                      // "nanoseconds" or "count"
  std::string period_type, period_unit;  // type and unit of the period
  bool values_have_period = true;        // false: the values have period 0 (off_cpu)
};
// Returns the types for an event. `is_time`: true if the event's periods are nanoseconds.
EventTypes TypesOf(std::string_view event, bool is_time);

// Returns the mean period, `value` / `samples`, but at least 1. Periods vary if the event is
// sampled at a frequency.
int64_t MeanPeriod(uint64_t value, uint64_t samples);

}  // namespace profiler::otlp
