// The options for the sources of names.

#pragma once

#include "src/cli/usage/command_line.h"
#include "src/profile/naming/naming.h"

namespace profiler::cli {

// Adds --symfs, --debug-dir, --no-cache, --no-sandbox and --trust-fs. The variables of these
// functions must outlive the parsing.
void AddFilePlaceOptions(usage::Command& command, naming::FilePlaces& places);
void AddCacheOption(usage::Command& command, bool& no_cache);
// Adds --no-sandbox, and --trust-fs, which takes effect while the command line is parsed.
void AddSandboxOption(usage::Command& command, bool& no_sandbox);

// Adds --no-debuginfod, --debuginfod-timeout and --debuginfod-size. On a terminal, standard error
// shows the progress of fetching, and Ctrl-C skips the image that is shown.
void AddFetchOptions(usage::Command& command, naming::FetchOptions& options);

}  // namespace profiler::cli
