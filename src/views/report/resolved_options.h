// Derives complete options for the events of one table from a report's options.
//
// Private to this package. Pure functions; thread-safe.

#pragma once

#include <span>

#include "src/profile/profile.h"
#include "src/views/report/fields.h"
#include "src/views/report/hist_row.h"
#include "src/views/report/options.h"

namespace profiler::report {

// Returns the options of call graphs. Their threshold is set.
CallGraphOptions SettledGraphOptions(const ReportOptions& options);

// Returns the options of the rows. `events`: the leader of a group and its members; at least one.
HistOptions ResolvedOptions(const ReportOptions& options, const profile::Profile& profile,
                            std::span<const profile::EventId> events);

// Returns the columns. `children`: true if rows have the weight of callees.
FieldLayout LayOutOf(const ReportOptions& options, bool children);

}  // namespace profiler::report
