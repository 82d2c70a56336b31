// Creates the tables on a server.

#pragma once

#include <functional>
#include <string_view>

#include "src/base/status.h"
#include "src/fleet/clickhouse/schema.h"
#include "src/http/http_client.h"

namespace profiler::fleet::clickhouse {

// The outcome of CreateTables.
struct CreatedTables {
  // True if the tables existed; then only the number of days to keep was changed.
  bool were_there = false;
  std::string version;  // version of the server
};

// Returns the statements for the server at `url`. Asks the server for its version and ignores
// `options.version`. Errors: those of Server::Ask and of CreationOf.
absl::StatusOr<std::vector<std::string>> CreationFor(http::Client& client, const std::string& url,
                                                     SchemaOptions options);

// Runs the statements of CreationFor. If the server's tables are newer than this program, leaves
// them unchanged and returns kFailedPrecondition. Other errors: those of CreationFor.
absl::StatusOr<CreatedTables> CreateTables(http::Client& client, const std::string& url,
                                           const SchemaOptions& options);

}  // namespace profiler::fleet::clickhouse
