// System calls that a signal may interrupt.

#pragma once

#include <cerrno>

namespace profiler {

// Calls `call()` again for as long as it returns -1 (or MAP_FAILED) with EINTR, and returns what it
// returns then. Local file systems interrupt few calls, network file systems and those in user
// space any. Not for close(2): on Linux the descriptor is gone even so.
template <class Call>
auto Uninterrupted(Call call) {
  const auto failed = (decltype(call()))(-1);
  while (true) {
    const auto result = call();
    if (result != failed || errno != EINTR) return result;
  }
}

}  // namespace profiler
