// Fetches files from debuginfod servers by running debuginfod-find(1), for a statically linked
// program, which cannot load libraries.

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "symbolize/files/debug_file_source.h"

namespace profiler::symbolize {

// Creates a source that runs `program` for each file. Looks for it in $PATH now. Errors:
// kUnimplemented if it is not there.
absl::StatusOr<std::shared_ptr<DebugFileSource>> CreateDebuginfodProgram(
    const std::string& program = "debuginfod-find");

}  // namespace profiler::symbolize
