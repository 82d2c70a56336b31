// The sender for a destination: the one place that knows all kinds of servers.

#pragma once

#include <memory>

#include "src/base/status.h"
#include "src/fleet/push/destination.h"
#include "src/fleet/push/sender.h"
#include "src/http/http_client.h"

namespace profiler::fleet {

// Asks no server yet. Errors: those of http::CreateClient; kInvalidArgument for parameters that the
// kind of server does not have.
absl::StatusOr<std::unique_ptr<Sender>> SenderOfDestination(const Destination& destination,
                                                            const http::Options& options);

}  // namespace profiler::fleet
