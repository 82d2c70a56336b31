// Small programs with debug information in every form that the compilers here write.

#pragma once

#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {

// Shared objects of 2 to 4 KB each. Those of split units have the sections of their split file as
// well, and name it program.dwo.
std::vector<Bytes> CompiledPrograms();

}  // namespace profiler::fuzz
