// What this program is called in the recordings that it writes.

#pragma once

namespace profiler::cli {

inline constexpr char kVersion[] = "profiler 0.1";

}  // namespace profiler::cli
