// Asks a ClickHouse server what a fleet did.

#pragma once

#include <memory>

#include "src/fleet/clickhouse/server.h"
#include "src/fleet/query/source.h"

namespace profiler::fleet::clickhouse {

// The source owns the client. An answer is whole or an error: where a shard is not there, or all
// replicas of one have fallen minutes behind, the question fails (kUnavailable).
std::unique_ptr<Source> ClickHouseSource(std::unique_ptr<http::Client> client,
                                         ServerAddress address);

}  // namespace profiler::fleet::clickhouse
