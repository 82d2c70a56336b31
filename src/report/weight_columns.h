// The columns of numbers: what rows weigh, of an event or of each event of a group.
//
// A new one is a line of KindOf in weight_columns.cc, or a class and a line of MakeWeightColumn.
//
// Private to this package.

#pragma once

#include <memory>

#include "src/report/columns.h"

namespace profiler::report {

// `hist` must outlive it.
std::unique_ptr<Column> MakeWeightColumn(const Histogram& hist, const ReportOptions& options,
                                         const FieldLayout& layout, WeightField field,
                                         const ColumnStyle& style);

}  // namespace profiler::report
