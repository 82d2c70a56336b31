// Creates the sources of a fleet's windows; this is the only code that knows all kinds.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/fleet/query/source.h"
#include "src/http/http_client.h"

namespace profiler::cli {

// True for the URL of a server that can be queried.
bool IsServer(const std::string& text);

// Creates a source from a directory of segments, or from "clickhouse+http://host:8123/database".
// Returns kInvalidArgument if the text is neither. Other errors: those of open(2), with the remedy,
// and those of http::CreateClient.
absl::StatusOr<std::unique_ptr<fleet::Source>> SourceOf(const std::string& text,
                                                        const http::Options& server);

// Converts the options for the connection to a server, which an address may contain
// (src/fleet/query/source_address.h).
http::Options ServerOptionsOf(const std::vector<std::pair<std::string, std::string>>& terms);

}  // namespace profiler::cli
