// Tables of others, whose pages and queries then show what this program records.
//
// Their statements and columns are theirs, as they were published in 2026; neither can tell what
// was sent twice once the server has forgotten the block (foreign_rows.h).

#pragma once

#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/clickhouse/schema.h"

namespace profiler::fleet::clickhouse {

// Of kCoroot and kOtel. Errors: kUnimplemented for servers that lack what the tables need, and on
// clusters, where their owners make them.
absl::StatusOr<std::vector<std::string>> ForeignCreationOf(const SchemaOptions& options);

}  // namespace profiler::fleet::clickhouse
