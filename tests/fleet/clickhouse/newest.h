// Writes SQL statements for the newest ClickHouse. The script newest.mjs runs them.

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"

namespace profiler::fleet::clickhouse {

// Writes FOLDER/statements.sql, FOLDER/expected and files of rows. `words` are two arguments: a
// directory of segments, and FOLDER.
absl::Status WriteForNewest(const std::vector<std::string>& words);

}  // namespace profiler::fleet::clickhouse
