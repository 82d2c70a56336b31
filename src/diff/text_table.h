// A table as a terminal shows it:
//
//   # Before   After  Function
//   # ......  ......  ........
//     10.14%  13.22%  parse
//
// Figures stand right, the last column left.

#pragma once

#include <span>
#include <string>
#include <vector>

namespace profiler::diff {

using Cells = std::vector<std::string>;

// Each row has as many cells as there are headings. Pure; thread-safe.
void AppendTable(const Cells& headings, std::span<const Cells> rows, std::string& out);

}  // namespace profiler::diff
