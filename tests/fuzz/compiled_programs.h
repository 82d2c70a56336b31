// Returns small programs with debug information, in every form that the installed compilers write.

#pragma once

#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

// Returns shared objects of 2 to 4 KB each. An object whose debug information is split also
// contains the sections of its split file, and refers to it as program.dwo.
std::vector<Bytes> CompiledPrograms();

}  // namespace profiler::fuzz
