// The variables that libjvm.so exports for who reads HotSpot from outside.

#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize::hotspot {

// Those of the dynamic symbols that are named gHotSpotVM…: a few dozen. Empty for a library that
// exports none, such as one that GraalVM made.
absl::flat_hash_map<std::string, ElfAddress> ReadExports(const ElfImage& image);

}  // namespace profiler::symbolize::hotspot
