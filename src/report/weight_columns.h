// The columns of numbers: what rows weigh, of an event or of each event of a group.
//
// A new one is a line of KindOf in weight_columns.cc, or a class and a line of MakeWeightColumn.
//
// Private to this package.

#pragma once

#include <memory>

#include "src/report/columns.h"
#include "src/report/hist_figures.h"

namespace profiler::report {

// What columns of numbers are made of.
struct WeightSources {
  const Histogram& hist;
  const HistFigures& figures;
  const ReportOptions& options;
  const FieldLayout& layout;
};

// The histogram and the figures must outlive it. Null for a column of figures that are not there.
std::unique_ptr<Column> MakeWeightColumn(const WeightSources& of, WeightField field,
                                         const ColumnStyle& style);

}  // namespace profiler::report
