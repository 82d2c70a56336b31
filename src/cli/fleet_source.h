// Where the answers to questions about a fleet come from. The one place that knows all sources.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"
#include "src/http/http_client.h"

namespace profiler::cli {

// Whether that is the URL of a server that can be asked.
bool IsServer(const std::string& text);

// A directory of segments, or "clickhouse+http://host:8123/database". kInvalidArgument where it is
// neither; errors of open(2) with what to do; those of http::CreateClient.
absl::StatusOr<std::unique_ptr<fleet::Source>> SourceOf(const std::string& text,
                                                        const http::Options& server);

// What an address says of the way to the server (src/fleet/query/address.h).
http::Options ServerOptionsOf(const std::vector<std::pair<std::string, std::string>>& terms);

}  // namespace profiler::cli
