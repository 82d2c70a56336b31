// Repeats system calls that a signal has interrupted.

#pragma once

#include <cerrno>

namespace profiler {

// Calls `call()` until it does not fail with EINTR, and returns its result. A failed call returns
// -1 or MAP_FAILED. Local file systems interrupt few calls; network file systems and those in user
// space may interrupt any. Not for close(2): Linux closes the descriptor even if it returns EINTR.
template <class Call>
auto Uninterrupted(Call call) {
  const auto failed = (decltype(call()))(-1);
  while (true) {
    const auto result = call();
    if (result != failed || errno != EINTR) return result;
  }
}

}  // namespace profiler
