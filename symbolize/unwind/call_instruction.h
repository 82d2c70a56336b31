// Recognizes calls; an address after a call may be a return address.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

inline constexpr size_t kLongestCall = 8;

// Returns true if `code` ends with a call. On x86, instructions cannot be decoded backwards, so
// true only means that the last bytes look like one: call rel32, or call with any register or
// memory operand.
bool EndsInCall(Architecture architecture, std::span<const uint8_t, kLongestCall> code);

}  // namespace profiler::symbolize
