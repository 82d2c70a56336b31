// The options of `report`, and their conversion to options of loading and of the report.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/cli/usage/command_line.h"
#include "src/cli/views/report_options.h"
#include "src/views/report/options.h"

namespace profiler::cli {

// The values as typed.
struct ReportArguments {
  ViewArguments view;
  std::string sort, fields;
  bool children = false;
  bool no_children = false;
  std::optional<std::string> call_graph;
  bool inverted = false;
  double percent_limit = 0;
  bool show_samples = false;
  bool show_period = false;
  bool intervals = false;
  bool json = false;
  bool show_cpu_utilization = false;
  bool hierarchy = false;
  std::optional<std::string> separator;
  std::string widths;
  std::string percentage = "absolute";
  uint32_t max_stack = 127;
  bool header = false;
  bool header_only = false;
  bool stats = false;
  bool dump = false;
  bool chains = false;
  bool unresolved = false;
  bool no_fde = false;
  bool tasks = false;
  bool mappings = false;
  bool thread_counters = false;
  bool raw_trace = false;
  bool total_cycles = false;
  bool verbose = false;
  bool full_source_paths = false;
  bool branch_stack = false;
  bool no_branch_stack = false;
  bool latency = false;
  bool memory = false;
  bool group = false;
  bool no_group = false;
  std::string symbol_part;
  bool hide_unresolved = false;
  std::optional<uint32_t> socket;
  std::string parent;
  bool exclude_other = false;
  std::string ignored_callees, ignored_callers;
  std::string time_quantum = "100ms";
  bool quiet = false;
  bool nanoseconds = false;
  bool source = false;  // true for source lines in a page
  bool stdio = false;
  bool tui = false;
};

void AddReportOptions(usage::Command& command, ReportArguments& arguments);

// Groups of these options, for other commands that print reports; `arguments` must live as long as
// the command. --sort; --children and --no-children; --ignore-callees, --ignore-callers,
// --percent-limit and --percentage; --max-stack, --show-nr-samples and --show-total-period.
void AddSortOption(usage::Command& command, ReportArguments& arguments);
void AddChildrenOptions(usage::Command& command, ReportArguments& arguments);
void AddPartOptions(usage::Command& command, ReportArguments& arguments);
void AddColumnOptions(usage::Command& command, ReportArguments& arguments);

// The options of loading and of the report.
struct ReportPlan {
  report::ReportOptions options;
  ViewOptions load;
  // Fields of tracepoints that --sort and --fields name: "FIELD" or "EVENT.FIELD". The index is the
  // number of the field's key (report::TraceFieldKey).
  std::vector<std::string> trace_fields;

  bool SortsBy(report::SortKey key) const;
};

// Converts the values. Returns kInvalidArgument, which quotes the invalid text. `trace_fields_of`
// returns the fields of tracepoints in the recording.
absl::StatusOr<ReportPlan> ReadReportPlan(const ReportArguments& arguments,
                                          const report::TraceFieldsOf& trace_fields_of = nullptr);

}  // namespace profiler::cli
