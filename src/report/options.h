// What a report shows and how: the choices of `perf report`, as values.
//
// Facts about perf's behaviour: tools/perf/Documentation/perf-report.txt,
// tools/perf/util/callchain.c (Linux 7.2).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/profile/ids.h"
#include "src/query/filter.h"
#include "src/report/fields.h"

namespace profiler::report {

enum class CallGraphType : uint8_t {
  kGraph,    // a tree; percentages of the whole
  kFlat,     // one list a chain
  kFractal,  // a tree; percentages of the branch above
  kFolded,   // one line a chain
  kNone,
};

// Which end of a chain stands at the top: the interrupted function or the outermost caller.
enum class ChainOrder : uint8_t { kCallee, kCaller };

enum class ChainValue : uint8_t { kPercent, kPeriod, kCount };

struct CallGraphOptions {
  CallGraphType type = CallGraphType::kGraph;
  // Branches below this percentage are left out. Unset: the percent limit, or 0.5 without one.
  std::optional<double> threshold;
  // Unset: kCaller with accumulated rows, else kCallee.
  std::optional<ChainOrder> order;
  ChainValue value = ChainValue::kPercent;
  size_t print_limit = 0;  // entries at one branching point; 0: all
};

using query::ColumnFilter;
using query::Filter;

// Events that belong together (`perf record -e '{cycles,instructions}'`).
struct EventGroup {
  std::string name;                      // "anon group"; empty: the events are grouped only here
  std::vector<profile::EventId> events;  // the leader first

  bool Has(profile::EventId event) const {
    return std::find(events.begin(), events.end(), event) != events.end();
  }
};

// Where the share of a latency stands beside that of its event; rows go by the first of them.
enum class Latency : uint8_t { kNone, kFirst, kSecond };

struct ReportOptions {
  // What rows are told apart by.
  std::vector<SortKey> sort = {SortKey::kComm, SortKey::kDso, SortKey::kSymbol};
  // --sort and --fields as they were typed, which decide on columns and order; empty: `sort`. Their
  // keys are those of `sort`.
  std::vector<Field> sort_fields;
  FieldList fields;
  // For events of which the profile has branches: those are the rows, without call graphs.
  std::vector<SortKey> branch_sort = {SortKey::kComm, SortKey::kDsoFrom, SortKey::kSymbolFrom,
                                      SortKey::kSymbolTo, SortKey::kCycles};
  // The events of a group share one table, with a column of each, or else have a table each. No
  // event is in two groups.
  std::vector<EventGroup> groups;
  bool join_groups = true;
  // Accumulated rows: a function has the weight of all samples that it, or anything it called, was
  // interrupted in. Only for events with call chains; unset: for all that have them.
  std::optional<bool> children;
  CallGraphOptions call_graph;
  double percent_limit = 0;   // rows below it are left out
  bool show_samples = false;  // the column of sample counts
  bool show_period = false;
  // How far chance can have moved the shares. The profile has the order of its samples.
  bool show_intervals = false;
  bool show_cpu_utilization = false;  // the columns of shares in the kernel and outside
  bool hierarchy = false;             // rows within rows, a level for each sort key
  std::string separator;              // between columns, instead of blanks; empty: blanks
  std::vector<size_t> widths;         // of columns, from the first on; 0: what it needs
  Filter filter;
  ColumnFilter column_filter;
  std::string symbol_part;  // rows whose symbol does not have it in its name are left out
  std::string time_slices;  // what was typed to choose samples by time, for the heading
  // Percentages of what passed the filter; else of everything.
  bool relative_percentages = false;
  // Samples weigh what their access to memory cost, not their periods.
  bool by_access_cost = false;
  // Each group is an event and its latency (query::AddLatency), in this order.
  Latency latency = Latency::kNone;
  bool inlines = true;
  bool full_dso_paths = false;     // in the column of DSOs
  bool full_source_paths = false;  // with kSrcline and kSrcfile
  // Frames looked at in one chain, counted from the end that stands at the top.
  uint32_t max_stack = 127;

  // Whether any column is of figures of chance.
  bool ShowsFigures() const;
};

// "graph,0.5,caller", "folded,count", "fractal,1,10", "none": words in any order, the first number
// is the threshold and the second the print limit. kInvalidArgument names the unknown word.
absl::StatusOr<CallGraphOptions> ParseCallGraph(std::string_view text);

}  // namespace profiler::report
