// Creates the sender for a destination. Only this function knows all kinds of servers.

#pragma once

#include <memory>

#include "src/base/status.h"
#include "src/fleet/push/destination.h"
#include "src/fleet/push/sender.h"
#include "src/http/http_client.h"

namespace profiler::fleet {

// Creates a sender without contacting the server. Returns kInvalidArgument for parameters that this
// kind of server does not have. Other errors: those of http::CreateClient.
absl::StatusOr<std::unique_ptr<Sender>> SenderOfDestination(const Destination& destination,
                                                            const http::Options& options);

}  // namespace profiler::fleet
