// Writes statements for the newest ClickHouse, which newest.mjs runs.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"

namespace profiler::fleet::clickhouse {

// Writes FOLDER/statements.sql, FOLDER/expected and the rows. `words`: a directory of segments, and
// FOLDER.
absl::Status WriteForNewest(const std::vector<std::string>& words);

}  // namespace profiler::fleet::clickhouse
