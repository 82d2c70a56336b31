// Formats the table of an event whose samples have branch stacks, in the layout of `perf report -b
// --stdio` (Linux 7.2). A row is a branch with its source and target; its weight is how often the
// branch was taken.
//
//   # Overhead  Command  Source Shared Object  Source Symbol  Target Symbol  Basic Block Cycles
//   # ........  .......  ....................  .............  .............  ..................
//   #
//       15.14%  echo     [kernel.kallsyms]     [k] schedule   [k] pick_next  1
//
// Differs from perf on purpose: names of DSOs are never cut to the width of the heading. There is
// no column of instructions per cycle, which needs the programs' code.
//
// Private to this package.

#pragma once

#include <string>

#include "src/profile/profile.h"
#include "src/views/report/function_table.h"
#include "src/views/report/options.h"

namespace profiler::report {

// Appends "# Event count …", the headings and the rows. Linear in the profile's branches, except
// for sorting the rows.
void AppendBranches(const profile::Profile& profile, const FunctionTable& functions,
                    profile::EventId event, const ReportOptions& options, std::string& out);

}  // namespace profiler::report
