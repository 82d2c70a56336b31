// Facts from files: ELF images and their debug information, kallsyms and vmlinux, maps and dumps of
// JITs.

#pragma once

#include <memory>

#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Creates a source of facts. It uses the search paths, `inlines` and `lines` of `options`; inlined
// calls and lines cost time. Function starts and neighbours are always included. Not thread-safe.
std::unique_ptr<FactSource> CreateFileFacts(const SymbolizerOptions& options);

}  // namespace profiler::symbolize
