#include "src/http/curl_library.h"
#include "src/http/curl_program.h"
#include "src/http/http_client.h"

namespace profiler::http {

absl::StatusOr<std::unique_ptr<Client>> CreateClient(const Options& options) {
  auto client = CreateLibraryClient(options);
  if (absl::IsFailedPrecondition(client.status())) return CreateProgramClient(options);
  return client;
}

}  // namespace profiler::http
