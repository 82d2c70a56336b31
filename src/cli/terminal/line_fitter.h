// Fits the lines of a view to a terminal. Sentences in comments are wrapped, tables get narrower
// columns, and each other line is fitted by itself (fitted_line.h).
//
// A table begins with two lines, from which the widths of its columns follow:
//
//   # Overhead  Shared Object                 Symbol
//   # ........  ............................  ...................

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::cli {

// Removes blanks in front of the comments ("  # …") of stat's lines, the same number in each, until
// the longest line fits in `columns`. At least two blanks stay. 0 columns: nothing is removed.
std::string WithNarrowComments(std::string_view lines, size_t columns);

class LineFitter {
 public:
  // `columns`: the terminal's width; 0: lines stay as they are.
  explicit LineFitter(size_t columns) : columns_(columns) {}

  // Takes a line of visible text, without its end. Returns the lines to print, in order. The
  // heading of a table is returned together with the line below it.
  std::vector<std::string> Add(std::string_view line);
  // Returns the heading that is still held back.
  std::vector<std::string> Finish();

 private:
  // A column of the table. The last one has no limit.
  struct Column {
    size_t begin, end;  // on the unchanged lines, in columns of the terminal
    size_t width;       // its width on the terminal
    size_t narrowest;   // smallest width
  };

  static std::vector<Column> PlanFor(std::string_view heading, std::string_view rule,
                                     size_t columns);
  std::string Fit(std::string_view line) const;

  size_t columns_;
  std::optional<std::string> heading_;
  std::vector<Column> plan_;  // columns of the present table; empty: nothing is narrowed
};

}  // namespace profiler::cli
