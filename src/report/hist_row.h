// A row of a report, and what decides which rows there are.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
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
  uint32_t sample = 0;       // of profile.rows: has what the row has in the columns it goes by
  uint16_t chain_depth = 0;  // the longest chain it was seen with
  Weight self;
  Weight children;  // includes self; equal to it where rows are not accumulated
};

// Of a row's own period, by where its samples were.
struct ModePeriods {
  uint64_t sys = 0, user = 0, guest_sys = 0, guest_user = 0;

  void Add(profile::Mode mode, uint64_t period) {
    if (mode == profile::Mode::kKernel) sys += period;
    if (mode == profile::Mode::kUser) user += period;
    if (mode == profile::Mode::kGuestKernel) guest_sys += period;
    if (mode == profile::Mode::kGuestUser) guest_user += period;
  }
};

// What one event has of a row.
struct EventWeights {
  Weight self;
  Weight children;
  ModePeriods modes;  // only with HistOptions::modes
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
  // As FieldLayout::order; empty: by children, self, then the sort keys.
  std::vector<Field> row_order;
  bool modes = false;  // the periods by mode are summed up
  Filter filter;
  ColumnFilter column_filter;
  std::string symbol_part;
  bool relative_percentages = false;

  bool SortsBy(SortKey key) const { return std::find(sort.begin(), sort.end(), key) != sort.end(); }
};

}  // namespace profiler::report
