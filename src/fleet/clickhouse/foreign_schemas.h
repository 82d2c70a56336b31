// The tables of other programs. The pages and queries of these programs then show this program's
// samples.
//
// The statements and columns are those that the programs published in 2026. The tables cannot
// detect a repeated batch if the server no longer remembers its block (foreign_rows.h).

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/clickhouse/schema.h"

namespace profiler::fleet::clickhouse {

// Returns the statements that create the tables of kCoroot and kOtel. Returns kUnimplemented
// if the server lacks a feature of the tables. Also returns kUnimplemented for clusters, because on
// clusters the other programs create their tables themselves.
absl::StatusOr<std::vector<std::string>> ForeignCreationOf(const SchemaOptions& options);

}  // namespace profiler::fleet::clickhouse
