// Recognises and names executable memory that belongs to no file: memory that JIT compilers fill.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::perf_event {

// True if the file name of an MMAP or MMAP2 record means such memory.
bool IsCodeMemory(std::string_view filename);

// Returns the name that all views show for such memory: the path of the process's perf map, whether
// that file exists or not. perf looks for function names there, and so do we. perf script prints
// this name, and its readers expect it.
std::string CodeMemoryName(uint32_t pid);

}  // namespace profiler::perf_event
