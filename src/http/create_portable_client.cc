// CreateClient of the statically linked program; replaces create_client.cc there.

#include "src/http/curl_program.h"
#include "src/http/http_client.h"

namespace profiler::http {

absl::StatusOr<std::unique_ptr<Client>> CreateClient(const Options& options) {
  return CreateProgramClient(options);
}

}  // namespace profiler::http
