// A row of a report, and what decides which rows there are.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/profile/profile.h"
#include "src/query/weight.h"
#include "src/report/functions.h"
#include "src/report/options.h"

namespace profiler::report {

using query::Weight;
using query::WeightOf;

struct HistRow {
  FunctionId function = kNoFunction;  // the first seen of the row: names its dso and symbol
  profile::ThreadId thread{};         // names its comm, pid and tid
  uint32_t cpu = 0;
  uint32_t parallelism = 0;
  uint16_t chain_depth = 0;  // the longest chain it was seen with
  Weight self;
  Weight children;  // includes self; equal to it where rows are not accumulated
};

// What one event has of a row.
struct EventWeights {
  Weight self;
  Weight children;
};

// What the rows are made of, in full. `order` and `children` are settled: ReportOptions may leave
// them open.
struct HistOptions {
  std::vector<SortKey> sort;
  bool children = false;
  bool chains = false;     // call graphs will be drawn…
  double chains_from = 0;  // … of rows of at least so many percent
  ChainOrder order = ChainOrder::kCaller;
  uint32_t max_stack = 127;
  Filter filter;
  bool relative_percentages = false;

  bool SortsBy(SortKey key) const { return std::find(sort.begin(), sort.end(), key) != sort.end(); }
};

}  // namespace profiler::report
