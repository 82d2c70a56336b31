// Bytes of feature sections of ours, as their codecs write them.

#pragma once

#include <cstdint>
#include <string>

namespace profiler::fuzz {

// Names of `functions` functions, whose calls are inlined into one another, and their code.
// Sections with more than a few are compressed.
std::string StoredNames(uint32_t functions);
std::string StoredCode(uint32_t functions);

// A profile of `samples` samples, of records of `data_size` bytes.
std::string StoredProfile(uint32_t samples, uint64_t data_size);

}  // namespace profiler::fuzz
