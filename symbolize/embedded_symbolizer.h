// Names and code from the recording itself, and from files where it has none.

#pragma once

#include <memory>

#include "src/base/embedded_names.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

struct EmbeddedOptions {
  bool demangle = true;         // as in SymbolizerOptions
  bool inlines = true;          // likewise
  bool function_starts = true;  // likewise
  bool bounded_symbols = true;  // likewise

  enum class Files : uint8_t {
    kForOthers,   // addresses that the recording says nothing of: an image of which it says
                  // everything is not opened
    kForUnnamed,  // those that it has no name for, too
    kFirst,       // files with the recorded build-id know best, the recording helps out
  };
  Files files = Files::kForOthers;
};

// Answers as the symbolizer would have that found the names, on whatever machine. `files` answers
// what `names` cannot, and must have the same options. Code is the recording's wherever it has any:
// it is that of the very file that was recorded.
//
// Whether images of one path are one image is taken from `names` as well, so that rows are those of
// the recorded machine. Not thread-safe.
std::unique_ptr<Symbolizer> CreateEmbeddedSymbolizer(EmbeddedNames names,
                                                     std::unique_ptr<Symbolizer> files,
                                                     EmbeddedOptions options);

}  // namespace profiler::symbolize
