// Makes the tables on a server.

#pragma once

#include <functional>
#include <string_view>

#include "src/base/status.h"
#include "src/fleet/clickhouse/schema.h"
#include "src/http/http_client.h"

namespace profiler::fleet::clickhouse {

// What came of it.
struct CreatedTables {
  bool were_there = false;  // and nothing was changed but for how long days are kept
  std::string version;      // of the server
};

// The statements for the server that is at `url`, whose version is asked for: `options.version`
// does not matter. Errors: those of Server::Ask and of CreationOf.
absl::StatusOr<std::vector<std::string>> CreationFor(http::Client& client, const std::string& url,
                                                     SchemaOptions options);

// Runs them. Errors: the same; kFailedPrecondition for tables that are newer than this program,
// which are left as they are.
absl::StatusOr<CreatedTables> CreateTables(http::Client& client, const std::string& url,
                                           const SchemaOptions& options);

}  // namespace profiler::fleet::clickhouse
