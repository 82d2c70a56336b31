// Recognizes calls; an address after a call may be a return address.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <span>

#include "symbolize/unwind/arch/architecture.h"

namespace profiler::symbolize {

// Returns true if `code` ends with a call, or may end with one: ArchitectureTraits::ends_in_call.
inline bool EndsInCall(Architecture architecture, std::span<const uint8_t, kLongestCall> code) {
  return architecture->ends_in_call == nullptr || architecture->ends_in_call(code);
}

}  // namespace profiler::symbolize
