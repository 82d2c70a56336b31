#include "src/format/otlp/event_types.h"

#include <algorithm>

#include "src/format/perf_event/off_cpu_events.h"

namespace profiler::otlp {

EventTypes TypesOf(std::string_view event, bool is_time) {
  constexpr std::string_view kNanoseconds = "nanoseconds", kCount = "count";
  const std::string_view name = event.substr(0, event.find(':'));
  EventTypes types = {.type = std::string(event),
                      .unit = std::string(is_time ? kNanoseconds : kCount)};
  std::ranges::replace(types.type, ':', '_');
  if (IsOffCpuEvent(name)) {
    types.type = "off_cpu";
    types.period_type = "context_switch";
    types.period_unit = kCount;
    types.values_have_period = false;
    return types;
  }
  if (name == "cpu-clock" || name == "task-clock") types.type = "cpu";
  types.period_type = types.type;
  types.period_unit = types.unit;
  return types;
}

int64_t MeanPeriod(uint64_t value, uint64_t samples) {
  if (samples == 0) return 1;
  return static_cast<int64_t>(std::max<uint64_t>(1, value / samples));
}

}  // namespace profiler::otlp
