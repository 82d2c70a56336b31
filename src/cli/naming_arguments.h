// The options that say where names come from.

#pragma once

#include "src/naming/naming.h"
#include "src/usage/command_line.h"

namespace profiler::cli {

// --symfs, --debug-dir, --no-cache, --no-sandbox and --trust-fs. What is filled must outlive the
// parsing, here and below.
void AddFilePlaceOptions(usage::Command& command, naming::FilePlaces& places);
void AddCacheOption(usage::Command& command, bool& no_cache);
// --no-sandbox, and --trust-fs, which has its effect while the command line is read.
void AddSandboxOption(usage::Command& command, bool& no_sandbox);

// --no-debuginfod, --debuginfod-timeout and --debuginfod-size. How fetching goes is shown where
// standard error is a terminal, and Ctrl-C there skips the image that is shown.
void AddFetchOptions(usage::Command& command, naming::FetchOptions& options);

}  // namespace profiler::cli
