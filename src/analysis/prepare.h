// Prepares a profile for a view. All changes of a named profile happen here, in one order:
//
//   naming::LoadProfile ─▶ Profile ─▶ Prepare(profile, plan) ─▶ const Profile ─▶ view
//
// A view states in a Plan what it wants; it does not know the order of the steps. To add a step,
// add a member of Plan and a line of Prepare.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/derived_columns.h"
#include "src/analysis/filter.h"
#include "src/analysis/name_pattern.h"
#include "src/analysis/name_rules.h"
#include "src/analysis/wall_clock.h"
#include "src/profile/profile.h"

namespace profiler::analysis {

// kIfParallel: only if several threads ran when any sample was taken. Otherwise each latency equals
// the share of its event.
enum class LatencyEvents : uint8_t { kNone, kIfParallel, kAlways };

// The steps of Prepare, in their order. Prepare leaves out a step whose member is empty or false.
struct Plan {
  bool fold_native = false;  // FoldNative
  NameRules names;           // SimplifyNames
  // KeepOnly. With `keeps_filtered` the rows stay, for views whose 100 % are all samples; then
  // Prepare only finds out if a row passes.
  Filter filter;
  bool keeps_filtered = false;
  std::optional<OffCpuLeaf> wall_clock;  // JoinWallClock
  std::string only_event;  // drops the rows of all events that EventsNamed does not find
  // True: sets the number of samples of events that `only_event` drops to 0, so reports have no
  // table for them.
  bool forgets_other_events = false;
  bool hide_unresolved = false;  // HideUnresolved
  // Replaces the marks of functions in Dimension::kTrace by names.
  std::function<void(profile::Profile&)> name_traces;
  std::vector<std::string> trace_fields;  // SplitTraces; becomes Profile::trace_fields
  std::optional<NamePattern> ignored_callees, ignored_callers;  // ForgetCallees, ForgetCallers
  // AddDerivedColumn for each of these dimensions. Dimensions that are read from samples are
  // ignored here, so a view can set all that it shows.
  profile::DimensionSet columns{};
  ColumnSources sources;
  LatencyEvents latencies = LatencyEvents::kNone;  // AddLatency

  // Adds a dimension to `columns`.
  void Derive(profile::Dimension dimension) { columns[static_cast<size_t>(dimension)] = true; }
};

struct PreparedProfile {
  profile::Profile profile;
  // The reason why no row passes Plan::filter (WhyNothingPasses); nothing if a row passes, or if
  // there was none.
  std::optional<std::string> nothing_passes;
  // The events of AddLatency, each with the event for which it was added.
  std::vector<std::pair<profile::EventId, profile::EventId>> latencies;
};

// Takes all steps of the plan. `profile` must have names, and the columns and texts that the plan's
// steps read. Each step is linear in the profile.
PreparedProfile Prepare(profile::Profile profile, const Plan& plan);

}  // namespace profiler::analysis
