// Groups of options that `top` shares with `record` and `report`, which define them
// (record_options.cc, report_arguments.cc, report_options.cc).
//
// The arguments must live as long as the command.

#pragma once

#include "src/cli/recording/record_options.h"
#include "src/cli/usage/command_line.h"
#include "src/cli/views/report_arguments.h"
#include "src/cli/views/report_options.h"

namespace profiler::cli {

// Options of `record`: -F and -c; -e and what belongs to it; -g and --call-graph; -m and -r;
// --off-cpu, --off-cpu-thresh and --wall-clock; --duration and -i.
void AddRateOptions(usage::Command& command, RecordArguments& arguments);
void AddSampledEventOptions(usage::Command& command, RecordArguments& arguments);
void AddChainOptions(usage::Command& command, RecordArguments& arguments);
void AddRingOptions(usage::Command& command, RecordArguments& arguments);
void AddOffCpuOptions(usage::Command& command, RecordArguments& arguments);
void AddLengthOptions(usage::Command& command, RecordArguments& arguments);

// Options of `report`: --sort; --children and --no-children; --ignore-callees, --ignore-callers,
// --percent-limit and --percentage; --max-stack, --show-nr-samples and --show-total-period.
void AddSortOption(usage::Command& command, ReportArguments& arguments);
void AddChildrenOptions(usage::Command& command, ReportArguments& arguments);
void AddPartOptions(usage::Command& command, ReportArguments& arguments);
void AddColumnOptions(usage::Command& command, ReportArguments& arguments);

// Options of all views: --comms, --dsos and --symbols; --kallsyms and --vmlinux.
void AddNameFilters(usage::Command& command, FilterNames names, FilterText& text);
void AddKernelOptions(usage::Command& command, naming::FilePlaces& places);

}  // namespace profiler::cli
