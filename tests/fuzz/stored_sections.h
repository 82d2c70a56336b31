// Makes the bytes of our own feature sections, with the project's codecs.

#pragma once

#include <cstdint>
#include <string>

namespace profiler::fuzz {

// Return a section of names, and a section of code. The sections describe `functions` functions
// whose calls are inlined into one another. Large
// sections are compressed.
std::string StoredNames(uint32_t functions);
std::string StoredCode(uint32_t functions);

// Returns a profile of `samples` samples, from a recording with `data_size` bytes of records.
std::string StoredProfile(uint32_t samples, uint64_t data_size);

}  // namespace profiler::fuzz
