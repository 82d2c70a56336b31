// The report: for each event that has samples, or each group of events that were counted together,
// a table of rows and under each row its call graph, in the layout of `perf report --stdio` (Linux
// 7.2):
//
//   #
//   # Total Lost Samples: 0
//   #
//   # Samples: 3K of event 'cpu-clock'
//   # Event count (approx.): 3995995992
//   #
//   # Children      Self  Command  Shared Object      Symbol
//   # ........  ........  .......  .................  ...........
//   #
//      100.00%     0.00%  worker   libc.so.6          [.] __libc_start_call_main
//               |
//               ---__libc_start_call_main
//                  main
//
// Where it differs from perf, on purpose:
//   * rows that show the same are one row: perf tells functions of one name apart by address;
//   * a comm is never cut to the width of the thread's last name;
//   * a kernel function is "[k]" in accumulated rows as well;
//   * by srcline, a caller of which no line is known is at its distance from where its function
//     starts, as what was interrupted is: perf takes the file's address from the runtime address;
//   * a group whose leader has no samples is shown, led by the first event that has some: perf
//     leaves it out. Branches of the events of a group stay apart;
//   * rows by time, cgroup or socket have as children what they have themselves: perf counts a
//   sample
//     once for each function on its stack, so that shares go beyond 100 %;
//   * where the processor kept the callers (perf record --call-graph lbr), a kernel sample has the
//     user instruction that entered the kernel below the kernel's frames: perf has the kernel's
//     address there once more. A sample without callers has its user instruction in all reports:
//     perf has it in script and where chains are read from the callee on;
//   * --hierarchy has the weight of callees on each level: perf has none above the last;
//   * --ignore-callees forgets callees also where chains are read from the caller on, and with
//     -g none: perf forgets the callers in the first case and nothing in the second;
//   * a time is never cut to twelve characters;
//   * -v shows the paths of images, without the address of one sample beside each symbol;
//   * where a filter leaves nothing, the table is there without rows;
//   * losses that perf has no line for are named in a comment line;
//   * there is no tip at the end.

#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "src/profile/profile.h"
#include "src/report/options.h"

namespace profiler::report {

// Takes text in pieces, in order; a piece is valid during the call only.
using TextSink = absl::FunctionRef<void(std::string_view)>;

// Writes the report without anything above it (header.h has that). A pure function of its
// arguments; thread-safe. Memory: some 80 bytes a stack node that is reached (a group) and 12 a row
// of the profile. The profile's rows must have what is sorted by (cpu).
void WriteReport(const profile::Profile& profile, const ReportOptions& options, TextSink sink);

// The same as one string.
std::string FormatReport(const profile::Profile& profile, const ReportOptions& options);

// "3K": the leading digits and the unit as perf abbreviates counts; a space where there is no unit.
std::string AbbreviatedCount(uint64_t count);

}  // namespace profiler::report
