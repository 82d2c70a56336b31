// The table of an event whose samples have branch stacks, in the layout of `perf report -b --stdio`
// (Linux 7.2): rows are branches, by where they come from and where they go to, and the weight of a
// row is how often one was taken.
//
//   # Overhead  Command  Source Shared Object  Source Symbol  Target Symbol  Basic Block Cycles
//   # ........  .......  ....................  .............  .............  ..................
//   #
//       15.14%  echo     [kernel.kallsyms]     [k] schedule   [k] pick_next  1
//
// Where it differs from perf, on purpose: names of DSOs are never cut to the width of the heading;
// there is no column of instructions per cycle, which takes the programs' code.
//
// Private to this package.

#pragma once

#include <string>

#include "src/profile/profile.h"
#include "src/report/functions.h"
#include "src/report/options.h"

namespace profiler::report {

// Appends "# Event count …", the headings and the rows. Linear in the profile's branches, but for
// sorting the rows.
void AppendBranches(const profile::Profile& profile, const FunctionTable& functions,
                    profile::EventId event, const ReportOptions& options, std::string& out);

}  // namespace profiler::report
