// How far chance can have moved the rows of a histogram, and which rows it leaves in no order.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/estimate/share.h"
#include "src/report/hist.h"

namespace profiler::report {

// A share of all from 0 to 1, in which the samples around each gap stand for what is missing in it.
struct ShareFigures {
  double share = 0;
  estimate::Interval interval;
};

struct RowFigures {
  ShareFigures self;
  ShareFigures children;  // as `self` where rows are not accumulated
  // 1, and as many more as rows surely have more of their own; 0: it has none.
  uint32_t rank = 0;
};

// Two rows of which the samples do not tell which one has more of its own.
struct Tie {
  size_t row = 0, next = 0;
  uint64_t samples = 0;  // so many would tell
};

struct HistFigures {
  // As the histogram's; empty where no chance is in them, or where the order of the event's samples
  // is not known.
  std::vector<RowFigures> rows;
  bool is_count = false;    // no chance is in them
  double missing_part = 0;  // of the samples, from 0 to 1
  std::optional<Tie> tie;   // the heaviest
};

// The profile has the order of its samples (Profile::order). Takes four bytes for each row of the
// profile and each function on its stack.
HistFigures FiguresOf(const Histogram& hist, profile::EventId event);

}  // namespace profiler::report
