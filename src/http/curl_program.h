// A client that sends its requests with curl(1), for a statically linked program, which cannot load
// libraries. Each request runs curl once, with its own connection:
//
//   descriptor 0   curl's options, secrets included (--config -): a file in memory
//              1   the body of the answer: a pipe
//              2   curl's error messages: a file in memory
//              3   the body of the request: a file in memory
//              4   the headers of the answer: a pipe
//
// The command line is only "curl -q -K -", so other processes see no secrets.

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/http/http_client.h"

namespace profiler::http {

// Creates a client. Each request looks for `program` in $PATH. Errors: see CreateClient. A request
// costs some 15 ms and, while it is sent, memory for two more copies of its body.
absl::StatusOr<std::unique_ptr<Client>> CreateProgramClient(const Options& options,
                                                            const std::string& program = "curl");

}  // namespace profiler::http
