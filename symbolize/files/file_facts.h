// Facts from the files themselves: ELF images and their debug information, kallsyms and vmlinux,
// the maps and dumps of JITs.

#pragma once

#include <memory>

#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Of `options`, those that say where files are looked for, and whether inlined calls and lines are:
// both cost. Function starts and neighbours are always told. Not thread-safe.
std::unique_ptr<FactSource> CreateFileFacts(const SymbolizerOptions& options);

}  // namespace profiler::symbolize
