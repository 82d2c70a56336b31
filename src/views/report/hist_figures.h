// Computes confidence intervals for the rows of a histogram, and their ranks.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/analysis/estimate/share.h"
#include "src/views/report/hist.h"

namespace profiler::report {

// A share of all samples, from 0 to 1. It includes missing samples, which are estimated from the
// samples around each gap.
struct ShareFigures {
  double share = 0;
  estimate::Interval interval;
};

struct RowFigures {
  ShareFigures self;
  ShareFigures children;  // equals `self` if rows are not accumulated
  // 1 plus the number of rows whose own weight is certainly larger than this row's; 0 if no sample
  // interrupted this row.
  uint32_t rank = 0;
};

// Two neighbouring rows whose order by own weight is uncertain.
struct Tie {
  size_t row = 0, next = 0;
  uint64_t samples = 0;  // number of samples needed to rank them
};

struct HistFigures {
  // Figures by row of the histogram. Empty if counts are exact, or if the order of the event's
  // samples is unknown.
  std::vector<RowFigures> rows;
  bool is_count = false;    // true if counts are exact: there is no confidence interval
  double missing_part = 0;  // share of the samples, from 0 to 1
  std::optional<Tie> tie;   // the heaviest tie; none if the order of all rows is certain
};

// Computes the figures. The profile must have the order of its samples (Profile::order). Memory:
// four bytes for each function on the stack of each row of the profile.
HistFigures FiguresOf(const Histogram& hist, profile::EventId event);

}  // namespace profiler::report
