// Facts from files that untrusted users may have written. Confined processes (confined_process.h),
// which can do nothing else, read the ELF files, DWARF, maps and dumps.
//
// There are up to two such processes. The first reads only files of root and of the user; its
// answers may be cached for later runs. An image that needs a file of another user moves to the
// second process, and its answers are not cached.

#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Options for confining the processes that read files.
struct ConfinementOptions {
  // If no process can be confined: true reads nothing; false reads in this process and warns.
  bool required = true;
  // Receives one line for each image that could not be read to the end.
  std::function<void(std::string_view line)> warn;
};

// Creates a source of the same facts as CreateFileFacts (files/file_facts.h). The first process is
// made by fork(2) when the first address is looked up. A lock that another thread holds at that
// time stays locked in the child forever. So other threads must not hold locks that looking up
// facts needs; locks of memory allocation are safe. Cost of a call: the look-up in the files, and
// two process switches; all addresses announced by one WillFind share the two switches. Not
// thread-safe.
std::unique_ptr<FactSource> CreateConfinedFacts(const SymbolizerOptions& options,
                                                const ConfinementOptions& confinement);

}  // namespace profiler::symbolize
