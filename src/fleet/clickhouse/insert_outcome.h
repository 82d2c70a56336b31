// Interprets a server's answer to an insert.

#pragma once

#include "src/base/status.h"
#include "src/fleet/clickhouse/server.h"
#include "src/fleet/push/sender.h"

namespace profiler::fleet::clickhouse {

// Returns the outcome of an insert. Only errors in the rows themselves are final. After all other
// errors the insert is tried again, because an operator, time or a smaller load can fix them.
Delivery OutcomeOf(const Server& server, const absl::StatusOr<http::Response>& answer);

// Returns the outcome of a query that failed before the insert.
Delivery TryAgain(const absl::Status& status);

}  // namespace profiler::fleet::clickhouse
