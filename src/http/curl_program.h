// A client by curl(1), for a program that is linked statically, which can load no library. Each
// request is a run of it with a connection of its own:
//
//   descriptor 0   its options, the secrets among them (--config -): a file in memory
//              1   the body of the answer: a pipe
//              2   what went wrong: a file in memory
//              3   the body of the request: a file in memory
//              4   the headers of the answer: a pipe
//
// So nothing but "curl -q -K -" is on the command line.

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/http/http_client.h"

namespace profiler::http {

// `program` is looked for in $PATH with each request. Errors: those of CreateClient. A request
// costs some 15 ms and, while it is sent, its body twice more in memory.
absl::StatusOr<std::unique_ptr<Client>> CreateProgramClient(const Options& options,
                                                            const std::string& program = "curl");

}  // namespace profiler::http
