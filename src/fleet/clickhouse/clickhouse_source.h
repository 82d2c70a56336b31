// A source that queries a fleet's windows on a ClickHouse server.

#pragma once

#include <memory>

#include "src/fleet/clickhouse/server.h"
#include "src/fleet/query/source.h"

namespace profiler::fleet::clickhouse {

// Creates a source that owns the client. An answer is complete or an error: if a shard is missing,
// or all of its replicas are minutes behind, the query fails (kUnavailable).
std::unique_ptr<Source> ClickHouseSource(std::unique_ptr<http::Client> client,
                                         ServerAddress address);

}  // namespace profiler::fleet::clickhouse
