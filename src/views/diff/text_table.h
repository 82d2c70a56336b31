// Formats a table for a terminal:
//
//   # Before   After  Function
//   # ......  ......  ........
//     10.14%  13.22%  parse
//
// Figures are aligned to the right, names to the left.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace profiler::diff {

using Cells = std::vector<std::string>;

// Appends a table to `out`. Each row has as many cells as `headings`. The last column and columns
// from `first_name` on are names. Pure; thread-safe.
void AppendTable(const Cells& headings, std::span<const Cells> rows, std::string& out,
                 size_t first_name = SIZE_MAX);

// Returns, for example, "10.14%" for a share of 0.1014. Pure; thread-safe.
std::string PercentText(double share);

}  // namespace profiler::diff
