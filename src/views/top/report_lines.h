// The lines of a report's table: rows, and the call graphs below some of them.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/profile/profile.h"
#include "src/views/report/options.h"

namespace profiler::top {

// A row or a line of a call graph.
struct ReportLine {
  std::string text;
  bool is_row = false;
  size_t row = 0;  // number of the row to which the line belongs
};

// A row's values, as its columns show them; empty: there is no such column.
struct RowNames {
  std::string comm, image, function;
  std::string key;  // all columns behind the weights, by which the row is found again
};

// The table of the profile's first event with samples.
class ReportLines {
 public:
  // Makes the table. Rows whose keys are in `unfolded` have their call graphs below them. Costs as
  // much as the report, which draws no graph if nothing is unfolded.
  ReportLines(const profile::Profile& profile, report::ReportOptions options,
              const std::set<std::string>& unfolded);

  const std::vector<ReportLine>& lines() const { return lines_; }
  const std::string& headings() const { return headings_; }
  bool has_table() const { return !headings_.empty(); }
  RowNames NamesOf(const ReportLine& row) const;

 private:
  // A column of the table, in bytes of a line.
  struct Column {
    std::string heading;
    size_t begin = 0, end = 0;
  };

  void TakeHeadings(const std::string& headings, const std::string& dots);
  std::string CellOf(const ReportLine& row, std::string_view heading) const;

  std::vector<ReportLine> lines_;
  std::string headings_;
  std::vector<Column> columns_;
};

// Returns the first percentage of a line, or -1, and sets `begin` and `end` to its bytes.
double FirstPercentOf(std::string_view line, size_t* begin, size_t* end);

}  // namespace profiler::top
