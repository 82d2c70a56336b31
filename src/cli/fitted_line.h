// A line of a view as a terminal may have it: not wider than that, and with colours. Lines are
// visible text (visible_text.h).

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profiler::cli {

// How many columns a terminal takes for it: two for a wide character, none for one that combines
// with the character before it, and for a tab what is missing to a multiple of eight.
size_t ColumnsOf(std::string_view line);

// The line in `columns` at most; 0: as it is. What is left out of a line that is too long is shown
// as '…': first parameters, f(int, char) being f(…), then the middle of the last piece of text that
// has room for it; pieces are what two blanks or more separate.
std::string FittedLine(std::string_view line, size_t columns);

// The line with its percentages coloured as perf colours them: red from 5 %, green from 0.5 %. Only
// of those with nothing before them but blanks, other percentages and the lines of a call graph;
// annotate's, which stand before " :", do without the sign.
std::string PaintedLine(std::string_view line);

}  // namespace profiler::cli
