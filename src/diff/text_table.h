// A table as a terminal shows it:
//
//   # Before   After  Function
//   # ......  ......  ........
//     10.14%  13.22%  parse
//
// Figures stand right, names left.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace profiler::diff {

using Cells = std::vector<std::string>;

// Each row has as many cells as there are headings, of which the last one is a name, and so is what
// stands from `first_name` on. Pure; thread-safe.
void AppendTable(const Cells& headings, std::span<const Cells> rows, std::string& out,
                 size_t first_name = SIZE_MAX);

}  // namespace profiler::diff
