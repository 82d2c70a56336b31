// Creates a symbolizer without a recording, for tests.

#pragma once

#include <memory>

#include "symbolize/files/file_facts.h"
#include "symbolize/names/name_store.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Returns a symbolizer that uses only files.
inline std::unique_ptr<Symbolizer> CreateSymbolizer(const SymbolizerOptions& options) {
  return std::make_unique<NameStore>(NameSources{.files = CreateFileFacts(options)}, options);
}

}  // namespace profiler::symbolize
