// The name and version of this program, and its build.

#pragma once

#include <string>

namespace profiler::cli {

inline constexpr char kVersion[] = "profiler 0.1";

// Returns the version, the commit, the compiler and the libraries, one per line, without a final
// newline. Only a stamped build (tools/build) has the commit. A + follows the commit if files
// differed from it.
std::string VersionText();

}  // namespace profiler::cli
