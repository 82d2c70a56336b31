// Statements for a ClickHouse of today, which newest.mjs runs.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"

namespace profiler::fleet::clickhouse {

// words: a directory of segments, and a folder that FOLDER/statements.sql, FOLDER/expected and the
// rows are written to.
absl::Status WriteForNewest(const std::vector<std::string>& words);

}  // namespace profiler::fleet::clickhouse
