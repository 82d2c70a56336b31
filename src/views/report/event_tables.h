// The tables of a report: one for each event, or for each group of events.
//
// Pure functions; thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/report/hist.h"
#include "src/views/report/options.h"

namespace profiler::report {

// Returns the events of each table, the leader first. Events without samples have no table, and
// branches have a table of their own.
std::vector<std::vector<profile::EventId>> TablesOf(const profile::Profile& profile,
                                                    const ReportOptions& options);

// Appends the lines above a table: its samples, its weight, and how much has names. Each line
// begins with '#'.
void AppendTotals(const Histogram& hist, const ReportOptions& options,
                  const std::vector<profile::EventId>& events, std::string& out);

// Appends the line with the number of samples. Like perf, it has the plural "of events" for the
// leader of a group, even if the table shows only the leader.
void AppendSampleCount(const profile::Profile& profile, const ReportOptions& options,
                       const std::vector<profile::EventId>& events, uint64_t samples,
                       std::string& out);

// Returns the rows that have a line in the table, in its order: their percentage reaches the limit,
// and their symbol has the part that the user asked for. At most options.most_rows.
std::vector<uint32_t> ListedRows(const Histogram& hist, const ReportOptions& options);

}  // namespace profiler::report
