// Asks a server which rows of a batch it has.

#pragma once

#include "src/base/status.h"
#include "src/fleet/clickhouse/rows.h"
#include "src/fleet/clickhouse/server.h"

namespace profiler::fleet::clickhouse {

// Leaves those out of the batch. Errors: those of Server::Ask; kDataLoss for an answer that is
// none.
absl::Status RemovePresentRows(Server& server, Batch& batch);

}  // namespace profiler::fleet::clickhouse
