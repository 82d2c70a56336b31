// Closes the descriptors that a forked child does not need.

#pragma once

namespace profiler {

// Closes all descriptors except the standard ones and `kept`, which becomes number 3. Standard
// descriptors up to `last_standard` are redirected to /dev/null; the others stay.
// Async-signal-safe: call it between fork(2) and exec(2).
void KeepOneDescriptor(int kept, int last_standard);

// The number of the kept descriptor.
inline constexpr int kKeptDescriptor = 3;

}  // namespace profiler
