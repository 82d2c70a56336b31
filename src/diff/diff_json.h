// Formats a comparison as JSON (docs/json.md), with every row, significant or not.

#pragma once

#include <span>
#include <string>

#include "src/diff/compare.h"
#include "src/query/keyed_rows.h"

namespace profiler::diff {

// Returns the JSON. Pure; thread-safe.
std::string DiffAsJson(const Diff& diff, std::span<const Run> before, std::span<const Run> after,
                       query::KeyBy by, Weight weight);

}  // namespace profiler::diff
