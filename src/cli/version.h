// What this program is called in the recordings that it writes, and what it was made of.

#pragma once

#include <string>

namespace profiler::cli {

inline constexpr char kVersion[] = "profiler 0.1";

// The version, the commit, the compiler and the libraries, a line each, the last without its
// newline. The commit is that of a stamped build (tools/build), with a + where files differed from
// it.
std::string VersionText();

}  // namespace profiler::cli
