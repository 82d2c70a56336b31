// Marks kernel functions in the texts of tracepoints, and replaces the marks by names. Names come
// later than texts, because kernel symbols come from the recording and change while it is read.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace profiler::events {

// Appends a mark for the function at an address. With `with_offset`, the function's name is followed
// by the distance from its start.
void AppendFunctionMark(uint64_t address, bool with_offset, std::string* out);

// Returns the name of the kernel function at an address; empty if it is unknown. If `with_offset`
// is true, adds the distance from the function's start: "perf_event_mmap+0x258".
using FunctionName = std::function<std::string(uint64_t address, bool with_offset)>;

// Appends text with the names of functions that formats print by address (%pS, %ps) in place of
// their marks. An address without a name is shown in hexadecimal. `name` may be empty.
void AppendWithNames(std::string_view text, const FunctionName& name, std::string* out);

}  // namespace profiler::events
