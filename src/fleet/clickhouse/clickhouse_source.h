// A source that queries a fleet's windows on a ClickHouse server.

#pragma once

#include <memory>

#include "src/fleet/clickhouse/server.h"
#include "src/fleet/query/source.h"

namespace profiler::fleet::clickhouse {

// Creates a source that owns the client. A query never returns a part of the answer: if a shard is
// missing, or if all replicas of a shard are minutes behind, it fails (kUnavailable).
std::unique_ptr<Source> ClickHouseSource(std::unique_ptr<http::Client> client,
                                         ServerAddress address);

}  // namespace profiler::fleet::clickhouse
