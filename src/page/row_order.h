// Rows of call paths in their order, each once.

#pragma once

#include <vector>

#include "src/page/call_paths.h"

namespace profiler::page {

// By event, thread, path and slice; rows that agree in all become one. Linear in the rows.
void SortAndMergeRows(std::vector<PathRow>& rows);

}  // namespace profiler::page
