// A client by libcurl, which is loaded when the first of them is made. Loading takes 20 to 60 ms
// and brings some thirty libraries along.

#pragma once

#include <memory>

#include "src/base/status.h"
#include "src/http/http_client.h"

namespace profiler::http {

// The program must ignore SIGPIPE (src/base/write_signals.h). Errors: those of CreateClient;
// kFailedPrecondition where there is no libcurl.
absl::StatusOr<std::unique_ptr<Client>> CreateLibraryClient(const Options& options);

}  // namespace profiler::http
