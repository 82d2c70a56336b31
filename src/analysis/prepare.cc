#include "src/analysis/prepare.h"

#include <algorithm>

#include "src/analysis/event_choice.h"
#include "src/analysis/fold_native.h"
#include "src/analysis/latency.h"
#include "src/analysis/stack_edits.h"
#include "src/analysis/unmatched_filter.h"

namespace profiler::analysis {

using profile::Dimension;
using profile::Profile;
using profile::Row;

namespace {

void KeepEvent(std::string_view name, Profile& profile) {
  const auto events = EventsNamed(profile, name);
  KeepRows(
      [&](const Row& row) {
        return events.ok() && std::find(events->begin(), events->end(), row.event) != events->end();
      },
      profile);
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
  if (!plan.only_event.empty()) KeepEvent(plan.only_event, profile);
  if (plan.wall_clock) JoinWallClock(*plan.wall_clock, profile);
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
