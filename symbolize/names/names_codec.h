// Encodes facts as the sections NAMES and CODE of a recording, and as files of the cache.
// src/format/perf_data/FORMAT.md draws the layout.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "symbolize/names/name_facts.h"

namespace profiler::symbolize {

// Returns a section NAMES. It holds the addresses of each image, and the code of dumps that was
// hit.
std::string EncodeNames(const NameFacts& names);
// Returns a section CODE. It holds the instructions and pieces of each image.
std::string EncodeCode(const NameFacts& code);

// Decode a section of untrusted bytes. Empty if the section is empty, truncated or invalid.
// Allocates at most some hundred bytes per byte of the section.
std::optional<NameFacts> DecodeNames(std::string_view section);
std::optional<NameFacts> DecodeCode(std::string_view section);

}  // namespace profiler::symbolize
