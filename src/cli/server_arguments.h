// The options of commands that talk to servers over HTTP: who this is, and whom it trusts.

#pragma once

#include "src/http/http_client.h"
#include "src/usage/command_line.h"

namespace profiler::cli {

// `options` must live until the command line has been parsed.
void AddServerOptions(usage::Command& command, http::Options& options);

}  // namespace profiler::cli
