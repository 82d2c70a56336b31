// What a client shows of itself, from files that only its user may read.

#pragma once

#include <string>

#include "src/base/status.h"
#include "src/http/http_client.h"

namespace profiler::http {

// The header "Authorization: Basic …" or "Authorization: Bearer …" (RFC 7617, RFC 6750) as the
// files say it now; empty where there are none. Reads them each time: a token that was renewed is
// the one that is sent. Errors: as CreateClient. Thread-safe.
absl::StatusOr<std::string> AuthorizationHeader(const Options& options);

// Whether the options make sense together, and their files can be read. Errors: as CreateClient.
absl::Status CheckOptions(const Options& options);

}  // namespace profiler::http
