// Replaces debuginfod_source.cc in the statically linked program.

#include "symbolize/files/debug_file_source.h"
#include "symbolize/files/debuginfod_program.h"

namespace profiler::symbolize {

absl::StatusOr<std::shared_ptr<DebugFileSource>> CreateDebuginfodSource() {
  return CreateDebuginfodProgram();
}

}  // namespace profiler::symbolize
