// The row of a report, and the options that determine the rows.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/weight.h"
#include "src/profile/profile.h"
#include "src/views/report/function_table.h"
#include "src/views/report/options.h"

namespace profiler::report {

using analysis::Weight;
using analysis::WeightOf;

// A row: samples that agree in all sort keys.
struct HistRow {
  FunctionId function = kNoFunction;  // function of the first sample; has its image and symbol
  profile::ThreadId thread{};         // thread of the first sample; has its comm, pid and tid
  uint32_t sample = 0;                // index of a row of the profile with the same column values
  uint16_t chain_depth = 0;           // depth of the longest chain among its samples
  Weight self;
  Weight children;  // includes `self`; equals `self` if rows are not accumulated
};

// A row's own period by the mode of its samples.
struct ModePeriods {
  uint64_t sys = 0, user = 0, guest_sys = 0, guest_user = 0;

  void Add(profile::Mode mode, uint64_t period) {
    if (mode == profile::Mode::kKernel) sys += period;
    if (mode == profile::Mode::kUser) user += period;
    if (mode == profile::Mode::kGuestKernel) guest_sys += period;
    if (mode == profile::Mode::kGuestUser) guest_user += period;
  }
};

// A row's weights of one event.
struct EventWeights {
  Weight self;
  Weight children;
  ModePeriods modes;  // zeroes without HistOptions::modes
};

// Complete options of the rows. ReportOptions may leave `order` and `children` open; here they are
// decided.
struct HistOptions {
  std::vector<SortKey> sort;
  bool children = false;
  bool chains = false;     // true if call graphs will be drawn
  double chains_from = 0;  // least percentage of rows whose call graphs will be drawn
  ChainOrder order = ChainOrder::kCaller;
  uint32_t max_stack = 127;
  // Fields by which rows are sorted (FieldLayout::order). Empty: by children, then self, then the
  // sort keys.
  std::vector<Field> row_order;
  bool modes = false;  // true if periods are summed up by mode
  Filter filter;
  ColumnFilter column_filter;
  SliceFilter slices;
  std::string symbol_part;
  bool relative_percentages = false;

  bool SortsBy(SortKey key) const { return std::find(sort.begin(), sort.end(), key) != sort.end(); }
};

}  // namespace profiler::report
