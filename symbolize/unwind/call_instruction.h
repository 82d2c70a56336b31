// Whether code calls: what tells a return address from any other address.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

inline constexpr size_t kLongestCall = 8;

// Whether `code` ends in a call. On x86, where instructions cannot be told apart from their end,
// whether it may: call rel32, or call with any operand in register or memory.
bool EndsInCall(Architecture architecture, std::span<const uint8_t, kLongestCall> code);

}  // namespace profiler::symbolize
