// Python that ran, and whose functions no stack names.
//
// CPython keeps its frames on the heap, where nobody finds them after a sample: stacks have the
// interpreter's own functions alone. Since 3.12 it can put a piece of code of its own around each
// of its functions and write a map of these (-X perf, PYTHONPERFSUPPORT=1,
// sys.activate_stack_trampoline), whose names begin with "py::" (CPython,
// Python/perf_trampoline.c).

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/profile/profile.h"

namespace profiler::query {

struct UnnamedPython {
  uint32_t minor = 0;  // 3.minor; of several the one with most of the samples
  double part = 0;     // of the event, from 0 to 1, that ran in or below all of them
};

// In the processes in which no function of Python has a name on any stack, as long as they have at
// least a fiftieth of the event. Nothing where the event's samples have no call chains: there names
// would not help. Pythons are known by the names of their files (MinorOfPython3). Linear in the
// stacks and rows.
std::optional<UnnamedPython> FindUnnamedPython(const profile::Profile& profile,
                                               profile::EventId event);
// Of the event in which it is most.
std::optional<UnnamedPython> FindUnnamedPython(const profile::Profile& profile);

// What is missing, and what would name it: two clauses of a sentence, without what ends them.
std::string MissingText(const UnnamedPython& python);
std::string RemedyText(const UnnamedPython& python);

}  // namespace profiler::query
