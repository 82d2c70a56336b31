// How to get names for a recorded image whose file has too few symbols.

#pragma once

#include "src/views/report/names.h"

namespace profiler::cli {

// Returns a function that looks up the package of an image, if the file at the image's path is the
// recorded one by its build-id (src/machine/packages/debug_symbols.h). For other images it returns
// a general remedy.
report::SymbolsRemedy SymbolsRemedyHere();

}  // namespace profiler::cli
