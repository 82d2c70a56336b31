// The columns of numbers: the rows' weights, for an event or for each event of a group.
//
// To add a column, add a line of KindOf in weight_columns.cc, or a class and a line of
// MakeWeightColumn.
//
// Private to this package.

#pragma once

#include <memory>

#include "src/views/report/columns.h"
#include "src/views/report/hist_figures.h"

namespace profiler::report {

// The objects that columns of numbers read.
struct WeightSources {
  const Histogram& hist;
  const HistFigures& figures;
  const ReportOptions& options;
  const FieldLayout& layout;
};

// Makes a column. The histogram and the figures must outlive it. Returns null for a column of
// figures if there are none.
std::unique_ptr<Column> MakeWeightColumn(const WeightSources& of, WeightField field,
                                         const ColumnStyle& style);

}  // namespace profiler::report
