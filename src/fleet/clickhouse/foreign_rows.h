// Converts windows to rows of other programs' tables (foreign_schemas.h).
//
// These tables have no key that identifies a row. So a batch that is sent twice counts once only
// while the server remembers its block.

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

// Returns rows in the order in which they must be sent; none for kOwn. Equal windows yield equal
// rows.
std::vector<ForeignRows> ForeignRowsOf(Schema schema, std::span<const Window> windows);

}  // namespace profiler::fleet::clickhouse
