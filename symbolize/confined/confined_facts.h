// Facts from files, found by processes that can do nothing else (confined_process.h): what is read
// of ELF files, DWARF, maps and dumps, which anybody may have written, is read there.
//
// There are up to two of them. One reads files of root and of the user alone; what it says may be
// kept for later runs. As soon as an image turns out to need a file of somebody else, it goes over
// to the other one, whose answers are that image's own affair.

#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "symbolize/address_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

struct ConfinementOptions {
  // Where no process can be confined, nothing is read; else it is read in this one, which is said.
  bool required = true;
  // Told of each image that could not be read to the end, in a line.
  std::function<void(std::string_view line)> warn;
};

// The facts that CreateFileFacts gives (files/file_facts.h). The first process is made when the
// first address is asked for, by fork(2): what other threads of this one hold then is held there
// for ever, so they must not be in the middle of what looking for facts needs (allocating memory is
// no such thing). Cost of an answer: that of file facts, and two changes of process; a thousand
// addresses that are announced by WillFind share these. Not thread-safe.
std::unique_ptr<FactSource> CreateConfinedFacts(const SymbolizerOptions& options,
                                                const ConfinementOptions& confinement);

}  // namespace profiler::symbolize
