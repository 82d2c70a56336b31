// Asks a server which rows of a batch exist there.

#pragma once

#include "src/base/status.h"
#include "src/fleet/clickhouse/rows.h"
#include "src/fleet/clickhouse/server.h"

namespace profiler::fleet::clickhouse {

// Removes the rows that exist on the server from the batch. Errors: those of Server::Ask; kDataLoss
// for a malformed answer.
absl::Status RemovePresentRows(Server& server, Batch& batch);

}  // namespace profiler::fleet::clickhouse
