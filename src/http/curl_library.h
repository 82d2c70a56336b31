// A client that sends its requests with libcurl. The first client loads the library, which takes 20
// to 60 ms and brings some thirty other libraries along.

#pragma once

#include <memory>

#include "src/base/status.h"
#include "src/http/http_client.h"

namespace profiler::http {

// Creates a client. The program must ignore SIGPIPE (src/base/write_signals.h). Errors: see
// CreateClient; kFailedPrecondition if libcurl is not installed.
absl::StatusOr<std::unique_ptr<Client>> CreateLibraryClient(const Options& options);

}  // namespace profiler::http
