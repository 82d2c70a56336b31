// Asks a server which rows of a batch it already has.

#pragma once

#include "src/base/status.h"
#include "src/fleet/clickhouse/rows.h"
#include "src/fleet/clickhouse/server.h"

namespace profiler::fleet::clickhouse {

// Removes from the batch the rows that exist on the server. Errors: those of Server::Ask. Returns
// kDataLoss for a malformed answer.
absl::Status RemovePresentRows(Server& server, Batch& batch);

}  // namespace profiler::fleet::clickhouse
