// The options of commands that use servers over HTTP: credentials, certificates and proxy.

#pragma once

#include "src/cli/usage/command_line.h"
#include "src/http/http_client.h"

namespace profiler::cli {

// Adds the options. `options` must outlive the parsing.
void AddServerOptions(usage::Command& command, http::Options& options);

}  // namespace profiler::cli
