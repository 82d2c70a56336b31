// Small programs with debug information, in every form that the installed compilers write.

#pragma once

#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

// Returns shared objects of 2 to 4 KB each. Objects of split units also contain the sections of
// their split file, and name it program.dwo.
std::vector<Bytes> CompiledPrograms();

}  // namespace profiler::fuzz
