// Feature sections as perf writes them, with what choices put in.

#pragma once

#include <map>
#include <span>
#include <string>

#include "tests/fuzz/choices.h"

namespace profiler::fuzz {

// Of some of the features, by bit, in the other byte order where `swapped`. EVENT_DESC, which has
// to go with the attrs, is not among them; NRCPUS says two.
std::map<int, std::string> SectionsOfPerf(Choices& choices, bool swapped);

// Of all of them.
std::map<int, std::string> SectionsOfPerf(std::span<const std::byte> program, bool swapped);

}  // namespace profiler::fuzz
