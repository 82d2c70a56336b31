// Makes feature sections as perf writes them, with values from choices.

#pragma once

#include <map>
#include <span>
#include <string>

#include "tests/fuzz/choices.h"

namespace profiler::fuzz {

// Returns some feature sections, keyed by feature bit. The sections have the other byte order if
// `swapped`. EVENT_DESC is missing, because it must fit the attrs. NRCPUS is 2.
std::map<int, std::string> SectionsOfPerf(Choices& choices, bool swapped);

// Returns all sections that SectionsOfPerf(choices) can return, with values from `program`.
std::map<int, std::string> SectionsOfPerf(std::span<const std::byte> program, bool swapped);

}  // namespace profiler::fuzz
