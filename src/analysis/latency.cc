#include "src/analysis/latency.h"

#include <cstdint>

#include "src/base/huge_vector.h"

namespace profiler::analysis {
namespace {

using profile::EventId;
using profile::Profile;
using profile::Row;

uint64_t LatencyOf(uint64_t period, uint32_t parallelism) {
  if (parallelism == profile::kOthersRan) return 0;
  return parallelism == profile::kNoneRan ? period : period / parallelism;
}

}  // namespace

std::vector<std::pair<EventId, EventId>> AddLatency(Profile& profile) {
  std::vector<std::pair<EventId, EventId>> pairs;
  // latency_of[event]: the latency's event; the event itself if it has no samples.
  std::vector<EventId> latency_of(profile.events.size());
  const StringId name = profile.strings.Intern("latency");
  for (uint32_t i = 0; i < latency_of.size(); ++i) {
    latency_of[i] = EventId{i};
    if (profile.events[i].samples == 0) continue;
    latency_of[i] = EventId{static_cast<uint32_t>(profile.events.size())};
    pairs.emplace_back(latency_of[i], EventId{i});
    profile::Event latency = profile.events[i];
    latency.name = name;
    latency.period = 0;
    latency.branch_stacks = false;
    profile.events.push_back(latency);
  }
  const size_t rows = profile.rows.size();
  for (size_t i = 0; i < rows; ++i) {
    Row row = profile.rows[i];
    const EventId event = latency_of[static_cast<uint32_t>(row.event)];
    if (event == row.event) continue;
    row.event = event;
    row.period = LatencyOf(row.period, profile.ParallelismOf(i));
    profile.events[static_cast<uint32_t>(event)].period += row.period;
    row.count = 0;  // the samples count for the original event
    profile.rows.push_back(row);
    for (HugeVector<uint32_t>& column : profile.columns) {
      if (!column.empty()) column.push_back(column[i]);
    }
  }
  return pairs;
}

}  // namespace profiler::analysis
