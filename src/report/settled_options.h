// What the options of a report mean for the events of one table: nothing is left open.
//
// Private to this package. Pure functions; thread-safe.

#pragma once

#include <span>

#include "src/profile/profile.h"
#include "src/report/fields.h"
#include "src/report/hist_row.h"
#include "src/report/options.h"

namespace profiler::report {

CallGraphOptions SettledGraphOptions(const ReportOptions& options);

// `events`: the leader of a group and its members; at least one.
HistOptions SettledOptions(const ReportOptions& options, const profile::Profile& profile,
                           std::span<const profile::EventId> events);

// The columns, of rows with or without the weight of callees.
FieldLayout LayOutOf(const ReportOptions& options, bool children);

}  // namespace profiler::report
