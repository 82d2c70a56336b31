// The options of a report, like those of `perf report`.
//
// Facts about perf's behaviour come from tools/perf/Documentation/perf-report.txt and
// tools/perf/util/callchain.c (Linux 7.2).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "src/analysis/filter.h"
#include "src/profile/ids.h"
#include "src/views/report/fields.h"

namespace profiler::report {

enum class CallGraphType : uint8_t {
  kGraph,    // a tree; percentages of the whole
  kFlat,     // one list per chain
  kFractal,  // a tree; percentages of the branch above
  kFolded,   // one line per chain
  kNone,
};

// The function at the top of a call graph: the interrupted function or the outermost caller.
enum class ChainOrder : uint8_t { kCallee, kCaller };

enum class ChainValue : uint8_t { kPercent, kPeriod, kCount };

struct CallGraphOptions {
  CallGraphType type = CallGraphType::kGraph;
  // Branches with a smaller percentage are not shown. Unset: ReportOptions::percent_limit, or 0.5
  // if that is 0.
  std::optional<double> threshold;
  // The order of a chain's functions. Unset: kCaller if rows are accumulated, else kCallee.
  std::optional<ChainOrder> order;
  ChainValue value = ChainValue::kPercent;
  size_t print_limit = 0;  // largest number of entries at one branching point; 0: all
};

using analysis::ColumnFilter;
using analysis::Filter;

// A group of events that were counted together (`perf record -e '{cycles,instructions}'`).
struct EventGroup {
  std::string name;                      // "anon group"; empty if only the report groups them
  std::vector<profile::EventId> events;  // events of the group, the leader first

  bool Has(profile::EventId event) const {
    return std::find(events.begin(), events.end(), event) != events.end();
  }
};

// Position of a latency's share relative to the share of its event. Rows are sorted by the share
// that comes first.
enum class Latency : uint8_t { kNone, kFirst, kSecond };

// First and last slice of the time whose samples count; the profile must keep Dimension::kSlice.
// Unset: all samples count.
using SliceFilter = std::optional<std::pair<uint32_t, uint32_t>>;

struct ReportOptions {
  // Keys that distinguish rows.
  std::vector<SortKey> sort = {SortKey::kComm, SortKey::kDso, SortKey::kSymbol};
  // Parsed --sort and --fields, which determine columns and order; their keys are those of `sort`.
  // If both are empty, `sort` determines columns and order.
  std::vector<Field> sort_fields;
  FieldList fields;
  // Keys for events with branches, whose rows are branches without call graphs.
  std::vector<SortKey> branch_sort = {SortKey::kComm, SortKey::kDsoFrom, SortKey::kSymbolFrom,
                                      SortKey::kSymbolTo, SortKey::kCycles};
  // Groups of events; no event is in two of them. If joined, a group's events share one table with
  // a column each; else each event has its own table.
  std::vector<EventGroup> groups;
  bool join_groups = true;
  // True for accumulated rows: a function has the weight of its own samples and of its callees'.
  // Only events with call chains can have accumulated rows. Unset: all events with call chains have
  // them.
  std::optional<bool> children;
  CallGraphOptions call_graph;
  double percent_limit = 0;  // rows with a smaller percentage are left out
  // Largest number of rows of a table, or of the first level of a hierarchy; 0: all. Columns are only
  // as wide as these rows need.
  size_t most_rows = 0;
  bool show_samples = false;  // True: show a column of sample counts.
  bool show_period = false;
  // Adds confidence intervals. The profile must have the order of its samples.
  bool show_intervals = false;
  bool show_cpu_utilization = false;  // shares in the kernel and outside
  bool quiet = false;                 // only rows, without lines that begin with #
  bool nanoseconds = false;           // times with nine digits behind the point
  bool hierarchy = false;             // rows within rows, one level per sort key
  std::string separator;              // printed between columns; empty: blanks
  std::vector<size_t> widths;         // widths of the columns, in characters; 0: as wide as needed
  Filter filter;
  ColumnFilter column_filter;
  SliceFilter slices;
  std::string symbol_part;  // rows whose symbol does not contain this text are not shown
  std::string time_slices;  // the user's choice of time slices, as text for the heading
  // True if percentages are of the samples that passed the filter; else of all samples.
  bool relative_percentages = false;
  // True if the weight of a sample is the cost of its access to memory instead of its period.
  bool by_access_cost = false;
  // If not kNone, each group has an event and its latency (analysis::AddLatency).
  Latency latency = Latency::kNone;
  bool inlines = true;
  bool full_dso_paths = false;     // true for paths in the column of DSOs
  bool full_source_paths = false;  // true for paths in kSrcline and kSrcfile
  // Largest number of a chain's frames that are used, counted from the end at the top of the graph.
  uint32_t max_stack = 127;

  // True if any column shows confidence intervals or ranks.
  bool ShowsFigures() const;
};

// Parses "graph,0.5,caller", "folded,count", "fractal,1,10" or "none". Words may be in any order;
// the first number is the threshold, the second the print limit. Returns kInvalidArgument, which
// names the unknown word.
absl::StatusOr<CallGraphOptions> ParseCallGraph(std::string_view text);

}  // namespace profiler::report
