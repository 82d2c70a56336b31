// Closes the descriptors that a forked child has no use for.

#pragma once

namespace profiler {

// Closes all descriptors except `kept`, which becomes number 3. The standard descriptors up to
// `last_standard` lead to /dev/null afterwards, and those behind it stay. Safe between fork(2) and
// exec(2) in a process with threads.
void KeepOneDescriptor(int kept, int last_standard);

// The number that the kept descriptor has.
inline constexpr int kKeptDescriptor = 3;

}  // namespace profiler
