// Facts as bytes: the sections NAMES and CODE of a recording, and the files of the cache. The
// layout is drawn in src/perf_data/FORMAT.md.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "symbolize/names/name_facts.h"

namespace profiler::symbolize {

// NAMES: the addresses of each image, and the code of dumps that was hit.
std::string EncodeNames(const NameFacts& names);
// CODE: the instructions and pieces of each image.
std::string EncodeCode(const NameFacts& code);

// The bytes may be anyone's: of a section that is empty, cut or impossible nothing is used. Reading
// allocates at most some hundred bytes for one of the section.
std::optional<NameFacts> DecodeNames(std::string_view section);
std::optional<NameFacts> DecodeCode(std::string_view section);

}  // namespace profiler::symbolize
