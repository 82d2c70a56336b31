#include "src/fleet/clickhouse/create_tables.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/fleet/clickhouse/server.h"

namespace profiler::fleet::clickhouse {
namespace {

// A database that always exists; the tables' database may have to be created.
constexpr const char* kDatabaseOfEachServer = "system";

}  // namespace

absl::StatusOr<std::vector<std::string>> CreationFor(http::Client& client, const std::string& url,
                                                     SchemaOptions options) {
  Server server(client, {.url = url, .database = kDatabaseOfEachServer});
  PROFILER_ASSIGN_OR_RETURN(options.version, server.Version());
  return CreationOf(options);
}

absl::StatusOr<CreatedTables> CreateTables(http::Client& client, const std::string& url,
                                           const SchemaOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(const std::vector<std::string> statements,
                            CreationFor(client, url, options));
  CreatedTables created;
  if (options.schema == Schema::kOwn) {
    Server in_database(client, {.url = url, .database = options.database});
    const absl::Status there = CheckSchema(in_database);
    if (!there.ok() && !absl::IsNotFound(there)) return there;
    created.were_there = there.ok();
  }
  Server server(client, {.url = url, .database = kDatabaseOfEachServer});
  PROFILER_ASSIGN_OR_RETURN(created.version, server.VersionText());
  for (const std::string& statement : statements) {
    PROFILER_RETURN_IF_ERROR(server.Ask(statement).status());
  }
  return created;
}

}  // namespace profiler::fleet::clickhouse
