// Formats the report in the layout of `perf report --stdio` (Linux 7.2): a table of rows for each
// event or group of events that has samples, and a call graph under each row:
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
// Differs from perf on purpose:
//   * Rows that look the same are one row. perf tells functions of one name apart by address.
//   * A comm is never cut to the width of the thread's last name.
//   * A kernel function is "[k]" in accumulated rows, too.
//   * With srcline, a caller without a known line has its offset from the function's start, like an
//     interrupted instruction. perf subtracts the file's address from the runtime address.
//   * -S also keeps samples of functions that are inlined at the interrupted instruction.
//   * With srcline and srcfile, the accumulated row of a function has the line of the call that was
//     inlined into the function. perf shows the line of the innermost inlined function there.
//   * A group whose leader has no samples is shown, led by the first event with samples. perf omits
//     it. Branches of a group's events stay in separate tables.
//   * Rows by time, cgroup or socket have their own weight as children. perf counts a sample once
//     for each function on its stack, so that shares exceed 100 %.
//   * If the processor recorded the callers (perf record --call-graph lbr), a kernel sample has the
//     user instruction that entered the kernel below the kernel's frames. perf repeats the kernel's
//     address there. A sample without recorded callers shows its user instruction in all reports;
//     perf shows it in script, and in reports whose chains start at the callee.
//   * --hierarchy shows the weight of callees on each level. perf shows it only on the last level.
//   * --ignore-callees always removes callees. If chains start at the caller, perf removes the
//     callers instead; with -g none perf removes nothing.
//   * A time is never cut to twelve characters.
//   * -v shows the paths of images, without the address of one sample next to each symbol.
//   * If a filter leaves no sample, the table is printed without rows.
//   * Losses that perf has no line for are listed in a comment line.
//   * There is no tip at the end.

#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "src/profile/profile.h"
#include "src/views/report/options.h"

namespace profiler::report {

// Receives text in pieces, in order. A piece is valid only during the call.
using TextSink = absl::FunctionRef<void(std::string_view)>;

// Writes the report, without the text above it (header.h). A pure function of its arguments;
// thread-safe. Memory: about 80 bytes for each stack node that samples reach, in each group of
// samples, and 12 bytes for each row of the profile. The profile must keep the dimensions of the
// sort keys, such as Dimension::kCpu.
void WriteReport(const profile::Profile& profile, const ReportOptions& options, TextSink sink);

// Returns a count as perf abbreviates it: leading digits and a unit, such as "3K". Below 1000, a
// space takes the place of the unit.
std::string AbbreviatedCount(uint64_t count);

}  // namespace profiler::report
