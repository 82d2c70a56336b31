// Files from debuginfod servers by running debuginfod-find(1): for a program that is linked
// statically, which can load no library.

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "symbolize/files/debug_file_source.h"

namespace profiler::symbolize {

// `program` is looked for in $PATH now, and run for each file. kUnimplemented where it is not
// there.
absl::StatusOr<std::shared_ptr<DebugFileSource>> CreateDebuginfodProgram(
    const std::string& program = "debuginfod-find");

}  // namespace profiler::symbolize
