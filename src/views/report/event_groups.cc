#include "src/views/report/event_groups.h"

#include <algorithm>
#include <cstdint>

#include "src/format/perf_data/format/feature_values.h"

namespace profiler::report {

std::vector<EventGroup> EventGroupsOf(const perf_data::Recording& recording) {
  std::vector<EventGroup> groups;
  const uint64_t events = recording.events().size();
  const auto described = perf_data::ReadGroups(recording.features());
  for (const perf_data::EventGroup& group :
       described.value_or(std::vector<perf_data::EventGroup>())) {
    EventGroup& added = groups.emplace_back();
    added.name = group.name.empty() ? "anon group" : group.name;
    const uint64_t end = std::min(uint64_t{group.leader} + group.members, events);
    for (uint64_t event = group.leader; event < end; ++event) {
      added.events.push_back(static_cast<profile::EventId>(event));
    }
  }
  return groups;
}

}  // namespace profiler::report
