#include "src/analysis/prepare.h"

#include <algorithm>

#include "src/analysis/event_choice.h"
#include "src/analysis/fold_native.h"
#include "src/analysis/latency.h"
#include "src/analysis/stack_edits.h"
#include "src/analysis/unmatched_filter.h"

namespace profiler::analysis {

using profile::Dimension;
using profile::EventId;
using profile::Profile;
using profile::Row;

namespace {

void KeepEvent(const Plan& plan, Profile& profile) {
  const auto events = EventsNamed(profile, plan.only_event);
  const auto is_kept = [&](EventId event) {
    return events.ok() && std::find(events->begin(), events->end(), event) != events->end();
  };
  KeepRows([&](const Row& row) { return is_kept(row.event); }, profile);
  if (!plan.forgets_other_events) return;
  for (uint32_t i = 0; i < profile.events.size(); ++i) {
    if (!is_kept(EventId{i})) profile.events[i].samples = 0;
  }
}

bool AnyRanInParallel(const Profile& profile) {
  const HugeVector<uint32_t>& column = profile.column(Dimension::kParallelism);
  return std::any_of(column.begin(), column.end(), [](uint32_t threads) {
    return threads > 1 && threads != profile::kOthersRan;
  });
}

bool WantsLatencies(LatencyEvents wanted, const Profile& profile) {
  if (wanted == LatencyEvents::kIfParallel) return AnyRanInParallel(profile);
  return wanted == LatencyEvents::kAlways;
}

}  // namespace

PreparedProfile Prepare(Profile profile, const Plan& plan) {
  PreparedProfile prepared;
  // Names come first, because filters and patterns match the names that views show.
  if (plan.fold_native) FoldNative(profile);
  SimplifyNames(profile, plan.names);
  // The filter comes before JoinWallClock, which gives rows a leaf that stands for a state.
  prepared.nothing_passes = WhyNothingPasses(profile, plan.filter);
  if (!plan.keeps_filtered) KeepOnly(plan.filter, profile);
  if (plan.wall_clock) JoinWallClock(*plan.wall_clock, profile);
  // The joined event can be kept by its name.
  if (!plan.only_event.empty()) KeepEvent(plan, profile);
  if (plan.hide_unresolved) HideUnresolved(profile);
  // Texts are complete before they are split into columns.
  if (plan.name_traces) plan.name_traces(profile);
  for (const std::string& field : plan.trace_fields) {
    profile.trace_fields.push_back(profile.strings.Intern(field));
  }
  if (!plan.trace_fields.empty()) SplitTraces(profile);
  // Derived columns describe the final stacks and rows, and rows of latencies copy them.
  if (plan.ignored_callees) ForgetCallees(*plan.ignored_callees, profile);
  if (plan.ignored_callers) ForgetCallers(*plan.ignored_callers, profile);
  for (size_t i = 0; i < plan.columns.size(); ++i) {
    if (plan.columns[i])
      AddDerivedColumn(Dimension{static_cast<uint8_t>(i)}, plan.sources, profile);
  }
  if (WantsLatencies(plan.latencies, profile)) prepared.latencies = AddLatency(profile);
  prepared.profile = std::move(profile);
  return prepared;
}

}  // namespace profiler::analysis
