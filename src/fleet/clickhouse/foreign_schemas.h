// The tables of other programs, whose pages and queries then show this program's samples.
//
// The statements and columns are those that the programs published in 2026. Their tables cannot
// detect a batch that is sent again once the server has forgotten its block (foreign_rows.h).

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/clickhouse/schema.h"

namespace profiler::fleet::clickhouse {

// Returns the statements that create the tables of kCoroot and kOtel. Errors: kUnimplemented for
// servers that lack a feature the tables need, and on clusters, where the tables' owners create
// them.
absl::StatusOr<std::vector<std::string>> ForeignCreationOf(const SchemaOptions& options);

}  // namespace profiler::fleet::clickhouse
