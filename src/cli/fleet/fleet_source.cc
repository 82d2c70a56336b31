#include "src/cli/fleet/fleet_source.h"

#include "absl/strings/str_cat.h"
#include "src/fleet/clickhouse/clickhouse_source.h"
#include "src/fleet/push/destination.h"
#include "src/fleet/query/segment_source.h"
#include "src/fleet/segments/segment_directory.h"

namespace profiler::cli {
namespace {

absl::StatusOr<std::unique_ptr<fleet::Source>> ServerSource(const std::string& text,
                                                            const http::Options& options) {
  PROFILER_ASSIGN_OR_RETURN(const fleet::Destination destination, fleet::ParseDestination(text));
  if (destination.kind != fleet::DestinationKind::kClickHouse) {
    return absl::InvalidArgumentError(absl::StrCat(text,
                                                   ": such servers only receive profiles; only ",
                                                   "clickhouse+http:// servers can be queried"));
  }
  fleet::clickhouse::ServerAddress address = {.url = destination.url};
  if (!destination.database.empty()) address.database = destination.database;
  PROFILER_ASSIGN_OR_RETURN(auto client, http::CreateClient(options));
  return fleet::clickhouse::ClickHouseSource(std::move(client), std::move(address));
}

absl::Status WithRemedy(const absl::Status& status) {
  if (absl::IsPermissionDenied(status)) {
    return absl::PermissionDeniedError(absl::StrCat(
        status.message(), ": only the agent's user may read its segments; run as root"));
  }
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   "; name the directory of an agent's segments, or "
                   "clickhouse+http://host:8123/database; `profiler agent` writes segments"));
}

}  // namespace

bool IsServer(const std::string& text) {
  return text.substr(0, text.find('?')).find("://") != std::string::npos;
}

absl::StatusOr<std::unique_ptr<fleet::Source>> SourceOf(const std::string& text,
                                                        const http::Options& server) {
  if (IsServer(text)) return ServerSource(text, server);
  auto directory = fleet::SegmentDirectory::Open(text);
  if (!directory.ok()) return WithRemedy(directory.status());
  return std::make_unique<fleet::SegmentSource>(*std::move(directory));
}

http::Options ServerOptionsOf(const std::vector<std::pair<std::string, std::string>>& terms) {
  http::Options options;
  for (const auto& [name, value] : terms) {
    if (name == "user-file") options.user_file = value;
    if (name == "token-file") options.token_file = value;
    if (name == "ca-file") options.ca_file = value;
    if (name == "cert-file") options.certificate_file = value;
    if (name == "key-file") options.key_file = value;
    if (name == "proxy") options.proxy = value;
  }
  return options;
}

}  // namespace profiler::cli
