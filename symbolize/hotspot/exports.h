// Reads the variables that libjvm.so exports for debuggers.

#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize::hotspot {

// Returns the dynamic symbols named gHotSpotVM…, a few dozen. Empty for a library that exports
// none, such as one made by GraalVM.
absl::flat_hash_map<std::string, ElfAddress> ReadExports(const ElfImage& image);

}  // namespace profiler::symbolize::hotspot
