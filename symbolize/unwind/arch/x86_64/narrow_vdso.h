// Reads the vdso of i386 programs, which an x86-64 kernel has besides its own.
//
// Private to arch/.

#pragma once

#include <cstddef>
#include <vector>

namespace profiler::symbolize {

// Implements ArchitectureTraits::read_narrow_vdso: maps it in a child process.
std::vector<std::byte> ReadNarrowVdso();

}  // namespace profiler::symbolize
