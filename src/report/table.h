// The rows of one event, or of a group of events, as lines of text.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "src/report/columns.h"
#include "src/report/hist.h"
#include "src/report/options.h"

namespace profiler::report {

// What it is made of must outlive it. Not thread-safe.
class Table {
 public:
  Table(const Histogram& hist, const HistFigures& figures, const ReportOptions& options,
        const FieldLayout& layout);

  void AppendHeadings(std::string& out) const;
  // Cheap where rows come in their order: what is in front of the last column is often the same as
  // in the row before, and is kept.
  void AppendRow(size_t index, std::string& out);

 private:
  void Prefetch(size_t row) const;
  void AppendCell(size_t column, size_t row, std::string& out);
  bool HasSameStart(const HistRow& row) const;

  const Histogram& hist_;
  const std::string separator_;  // empty: columns are aligned
  std::vector<std::unique_ptr<Column>> columns_;
  const HistRow* started_ = nullptr;  // the row that start_ is of
  std::string start_;                 // all but the last cell
};

}  // namespace profiler::report
