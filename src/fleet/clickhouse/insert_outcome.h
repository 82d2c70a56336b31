// What becomes of an insert, by what the server said of it.

#pragma once

#include "src/base/status.h"
#include "src/fleet/clickhouse/server.h"
#include "src/fleet/push/sender.h"

namespace profiler::fleet::clickhouse {

// Of an answer to an insert. Only what is wrong with the rows themselves is refused for good; all
// that an operator, time or a smaller load can mend is tried again.
Delivery OutcomeOf(const Server& server, const absl::StatusOr<http::Response>& answer);

// The same, of a question that came before the insert.
Delivery TryAgain(const absl::Status& status);

}  // namespace profiler::fleet::clickhouse
