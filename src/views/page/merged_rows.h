// Sorts rows of call paths and merges equal ones.

#pragma once

#include <vector>

#include "src/views/page/call_paths.h"

namespace profiler::page {

// Sorts by event, thread, path and slice, and merges rows that are equal in all four. Takes time
// linear in the rows.
void SortAndMergeRows(std::vector<PathRow>& rows);

}  // namespace profiler::page
