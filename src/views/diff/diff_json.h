// Formats a comparison as JSON (docs/json.md), with every row, significant or not.

#pragma once

#include <span>
#include <string>

#include "src/analysis/keyed_rows.h"
#include "src/views/diff/compare.h"

namespace profiler::diff {

// Returns the JSON. Pure; thread-safe.
std::string DiffAsJson(const Diff& diff, std::span<const Run> before, std::span<const Run> after,
                       analysis::KeyBy by, Weight weight);

}  // namespace profiler::diff
