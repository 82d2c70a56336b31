// Fits a line of a view to a terminal's width, and adds colours. Lines are visible text
// (src/terminal/visible_text.h).

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profiler::cli {

// Shortens the line to at most `columns`; 0 means no limit. '…' marks omissions. First omits
// parameters: f(int, char) becomes f(…). If that is not enough, omits the middle of the last piece
// of text that is long enough. Pieces are separated by two or more blanks.
std::string FittedLine(std::string_view line, size_t columns);

// Shortens a text without tabs to at most `columns`, which is not 0. '…' takes the place of its
// middle.
std::string WithoutMiddle(std::string_view text, size_t columns);

// Colours percentages like perf: red from 5 %, green from 0.5 %. Only blanks, other percentages and
// the lines of a call graph may precede them. Annotate's percentages, which precede " :", need no
// percent sign.
std::string PaintedLine(std::string_view line);

}  // namespace profiler::cli
