// Windows as rows of others' tables (foreign_schemas.h).
//
// They have no key that says all, so a batch that is sent twice counts once only as long as the
// server remembers its block.

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "src/fleet/clickhouse/rows.h"
#include "src/fleet/clickhouse/schema.h"

namespace profiler::fleet::clickhouse {

struct ForeignRows {
  std::string_view table, columns;
  Rows rows;
};

// In the order in which they are to be sent; for kOwn none. Deterministic.
std::vector<ForeignRows> ForeignRowsOf(Schema schema, std::span<const Window> windows);

}  // namespace profiler::fleet::clickhouse
