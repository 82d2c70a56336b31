// Executable memory that is of no file, as mapping records name it: what JIT compilers fill.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::perf_event {

// Of the file name of an MMAP or MMAP2 record.
bool IsCodeMemory(std::string_view filename);

// What all views call such memory of a process: the file in which perf, and we, look for its
// functions, whether it is there or not. So does perf script, and who reads that looks for it.
std::string CodeMemoryName(uint32_t pid);

}  // namespace profiler::perf_event
