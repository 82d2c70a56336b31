// Formats the rows of one event, or of a group of events, as lines of text.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "src/views/report/columns.h"
#include "src/views/report/hist.h"
#include "src/views/report/options.h"

namespace profiler::report {

// A table of rows as text. All constructor arguments must outlive it. Not thread-safe.
class Table {
 public:
  Table(const Histogram& hist, const HistFigures& figures, const ReportOptions& options,
        const FieldLayout& layout);

  void AppendHeadings(std::string& out) const;
  // Appends a row. If rows are requested in order, all cells except the last often equal those of
  // the previous row, and their text is reused.
  void AppendRow(size_t index, std::string& out);

 private:
  void Prefetch(size_t row) const;
  void AppendCell(size_t column, size_t row, std::string& out);
  bool HasSameStart(const HistRow& row) const;

  const Histogram& hist_;
  const size_t sorted_;          // Histogram::sorted; another thread may sort the rows behind
  const std::string separator_;  // printed between columns; empty: columns are aligned
  std::vector<std::unique_ptr<Column>> columns_;
  const HistRow* started_ = nullptr;  // the row whose cells start_ has
  std::string start_;                 // text of all cells except the last
};

}  // namespace profiler::report
