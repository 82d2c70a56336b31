// The columns of a report's lines: heading, width and cells of each field.
//
//   Children      Self  Command  Symbol
//   ........  ........  .......  ...........
//     98.25%    29.63%  worker   [.] spin
//
// A sort key's column follows from its kind (sort_keys.h); a new kind needs a class in columns.cc and
// a line of MakeKeyColumn. Columns of numbers are in weight_columns.h.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/views/report/hist.h"
#include "src/views/report/hist_figures.h"
#include "src/views/report/options.h"

namespace profiler::report {

// A column of a table. Call MakeRoomFor for every row, then AppendHeading, then AppendCell.
class Column {
 public:
  virtual ~Column() = default;

  size_t width() const { return width_; }
  // Widens the column for the row's cell.
  virtual void MakeRoomFor(const HistRow& /*row*/) {}
  // Appends the heading, padded to the column's width.
  virtual void AppendHeading(std::string& out) const = 0;
  // True if a cell is text, in which the separator of columns must be replaced.
  virtual bool IsText() const { return true; }
  // Appends the cell of row `index` of the histogram; it may be narrower than the column.
  virtual void AppendCell(size_t index, std::string& out) = 0;
  // True if both rows certainly have equal cells; then the cell is not formatted again. May return
  // false for equal cells.
  virtual bool HaveSameCell(const HistRow& /*a*/, const HistRow& /*b*/) const { return false; }
  // True if the user gave a width, so that wider cells are cut.
  virtual bool IsCut() const { return false; }
  // True if the cell is padded with blanks even at the end of a line.
  virtual bool IsFilledUp() const { return true; }

 protected:
  explicit Column(size_t width) : width_(width) {}

  size_t width_;
};

// A user's options for a column.
struct ColumnStyle {
  size_t width = 0;          // width in characters; 0: as wide as needed
  bool separated = false;    // True if a separator follows, so numbers are not aligned.
  bool full_paths = false;   // True: the column of images shows paths.
  bool fits_address = true;  // True: the column of images is at least as wide as an address.
  bool nanoseconds = false;  // True: times have nine digits behind the point.
};

// Makes the columns of a table, not yet widened for its rows. `hist`, `figures` and `options` must
// outlive them. Leaves out columns of figures if there are none.
std::vector<std::unique_ptr<Column>> MakeColumns(const Histogram& hist, const HistFigures& figures,
                                                 const ReportOptions& options,
                                                 const FieldLayout& layout);

// Returns the name if the filter permits only one name for the key, else null. With one name the
// column is superfluous; perf prints the name once, in a comment. A symbol is not the only name if
// it is inlined into functions that have rows. Linear in the rows.
const std::string* OnlyName(SortKey key, const profile::Profile& profile, const Filter& filter);

}  // namespace profiler::report
