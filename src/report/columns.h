// The columns of a report's lines: of each field its heading, its width and its cells, in one
// place.
//
//   Children      Self  Command  Symbol
//   ........  ........  .......  ...........
//     98.25%    29.63%  worker   [.] spin
//
// A new sort key is a class in columns.cc and a line of MakeKeyColumn; numbers are in
// weight_columns.h.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/hist.h"
#include "src/report/hist_figures.h"
#include "src/report/options.h"

namespace profiler::report {

class Column {
 public:
  virtual ~Column() = default;

  size_t width() const { return width_; }
  // Makes room for the row's cell. Of every row, before anything is written.
  virtual void MakeRoomFor(const HistRow& /*row*/) {}
  // As wide as the column.
  virtual void AppendHeading(std::string& out) const = 0;
  // Whether a cell is text, which must not have the separator of columns in it.
  virtual bool IsText() const { return true; }
  // The cell of row `index` of the histogram. It may be narrower than the column.
  virtual void AppendCell(size_t index, std::string& out) = 0;
  // Whether both rows have the same cell, as far as a glance can tell: saves writing it again.
  virtual bool HaveSameCell(const HistRow& /*a*/, const HistRow& /*b*/) const { return false; }
  // Whether a cell that is wider than the column is cut, as the user has given a width.
  virtual bool IsCut() const { return false; }
  // Whether blanks fill up the cell at the end of a line.
  virtual bool IsFilledUp() const { return true; }

 protected:
  explicit Column(size_t width) : width_(width) {}

  size_t width_;
};

// What the user wants of a column.
struct ColumnStyle {
  size_t width = 0;          // 0: what it needs
  bool separated = false;    // numbers are not aligned, as a separator stands behind them
  bool full_paths = false;   // of images
  bool fits_address = true;  // a column of images is as wide as an address, where there is any
};

// The columns of a table, not yet widened to its rows. `hist`, `figures` and `options` must outlive
// them. Without figures there are no columns of them.
std::vector<std::unique_ptr<Column>> MakeColumns(const Histogram& hist, const HistFigures& figures,
                                                 const ReportOptions& options,
                                                 const FieldLayout& layout);

// The only name that a filter lets through makes the column of names superfluous: perf tells it
// once, in a comment. Null where the filter is of none or of several.
const std::string* OnlyName(SortKey key, const Filter& filter);

}  // namespace profiler::report
