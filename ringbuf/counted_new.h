// How many times this test binary has called operator new.

#pragma once

#include <cstdint>

namespace profiler::ringbuf {

uint64_t NewCalls();

}  // namespace profiler::ringbuf
