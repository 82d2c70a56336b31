// Names of the types of an event's values, as receivers know them.
//
//   event                    values                 samples are taken
//   cpu-clock, task-clock    cpu/nanoseconds        every so many cpu/nanoseconds
//   offcpu-time, …           off_cpu/nanoseconds    at each context_switch/count
//   other times              EVENT/nanoseconds      every so many EVENT/nanoseconds
//   others                   EVENT/count            every so many EVENT/count
//
// Pyroscope (pkg/ingester/otlp/convert.go, 2026) makes nanoseconds of samples whose period is
// cpu/nanoseconds, knows off_cpu/nanoseconds by its having no period, and names all others by the
// type of their period: a profile without one is refused, with all of its request. It separates
// names by ':', so '_' replaces that in the names of events.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::otlp {

struct EventTypes {
  std::string type;                      // of the values
  std::string unit;                      // "nanoseconds" or "count"
  std::string period_type, period_unit;  // of the samples
  bool values_have_period = true;        // else the values are not periodic
};
EventTypes TypesOf(std::string_view event, bool is_time);

// The period on average, for an event with a frequency takes its samples at changing ones. At least
// 1.
int64_t MeanPeriod(uint64_t value, uint64_t samples);

}  // namespace profiler::otlp
