// Finds Python processes whose Python functions have no names.
//
// CPython keeps its frames on the heap, where they cannot be found after a sample. Unless the
// recorder walks them at the sample (src/record/bpf), stacks contain only the interpreter's own
// functions; frames that were walked have the file of their function, which ends with ".py". Since
// 3.12, CPython can also generate a trampoline for each of its functions and write a map of these (-X perf, PYTHONPERFSUPPORT=1,
// sys.activate_stack_trampoline). The names in the map begin with "py::" (CPython,
// Python/perf_trampoline.c).

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/profile/profile.h"

namespace profiler::analysis {

struct UnnamedPython {
  uint32_t minor = 0;  // version 3.minor; the heaviest of several versions
  double part = 0;     // part of the event in or below Python of any version, from 0 to 1
};

// Looks at Python processes without a named Python function on any stack. Returns nothing if they
// have less than a fiftieth of the event, or if the event's samples have no call chains, because
// names would not help such events. Recognises Python by the names of its files (MinorOfPython3).
// Linear in the stacks and rows.
std::optional<UnnamedPython> FindUnnamedPython(const profile::Profile& profile,
                                               profile::EventId event);
// Returns the result for the event with the largest part.
std::optional<UnnamedPython> FindUnnamedPython(const profile::Profile& profile);

// MissingText says which names are missing; RemedyText says how to get them. Each returns a clause
// of a sentence, without a final period.
std::string MissingText(const UnnamedPython& python);
std::string RemedyText(const UnnamedPython& python);

}  // namespace profiler::analysis
