// Recognises and names executable memory that belongs to no file. JIT compilers fill such memory.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::perf_event {

// True if an MMAP or MMAP2 record with this file name maps memory that belongs to no file.
bool IsCodeMemory(std::string_view filename);

// Returns the name that all views show for such memory: the path of the process's perf map, whether
// that file exists or not. Like perf, this program looks for function names in that file. perf
// script prints this name, so programs that read its output expect it.
std::string CodeMemoryName(uint32_t pid);

}  // namespace profiler::perf_event
