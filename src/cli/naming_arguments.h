// The options that say where names come from.

#pragma once

#include "CLI/CLI.hpp"
#include "src/naming/naming.h"

namespace profiler::cli {

// --symfs, --debug-dir, --no-cache and --no-sandbox. What is filled must outlive the parsing, here
// and below.
void AddFilePlaceOptions(CLI::App& command, naming::FilePlaces& places);
void AddCacheOption(CLI::App& command, bool& no_cache);
void AddSandboxOption(CLI::App& command, bool& no_sandbox);

// --no-debuginfod, --debuginfod-timeout and --debuginfod-size. How fetching goes is shown where
// standard error is a terminal, and Ctrl-C there skips the image that is shown.
void AddFetchOptions(CLI::App& command, naming::FetchOptions& options);

}  // namespace profiler::cli
