// Credentials that a client sends, read from files that only their user may read.

#pragma once

#include <string>

#include "src/base/status.h"
#include "src/http/http_client.h"

namespace profiler::http {

// Returns the header "Authorization: Basic …" or "Authorization: Bearer …" (RFC 7617, RFC 6750);
// empty without a file of credentials. Reads the file at each call, so that a renewed token is
// sent. Errors: see CreateClient. Thread-safe.
absl::StatusOr<std::string> AuthorizationHeader(const Options& options);

// Checks that no options contradict each other, and that their files can be read. Errors: see
// CreateClient.
absl::Status CheckOptions(const Options& options);

}  // namespace profiler::http
