// Reads the inlined calls of a compiled method, and which code belongs to each.
//
//   nmethod   PcDesc    │ pc −1 │ pc 0x24, scope 17 │ pc 0x58, scope 41 │ … │ pc 2^31 − 1 │
//             scopes    │ … 17: sender 9, method 3, bci 4 … 9: sender 0, method 1, bci 12 │
//             metadata  │ Method * │ Method * │ …
//
// PcDescs are sorted by pc. Scopes consist of packed integers (compressed.h). The numbers of
// methods in the metadata begin with 1.
//
// The pc of a PcDesc is the return address of a call. So the code between the previous PcDesc and
// this one belongs to the scope of this one. The scope names the innermost method, and the chain of
// its senders names the callers.
//
// Source: src/hotspot/share/code/{pcDesc.hpp,scopeDesc.cpp,debugInfo.cpp,nmethod.hpp}, JDK 17 and
// 25.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbolize/hotspot/code_cache.h"
#include "symbolize/hotspot/layout.h"
#include "symbolize/hotspot/methods.h"
#include "symbolize/process_memory.h"
#include "symbolize/symbols/jit_dump.h"

namespace profiler::symbolize::hotspot {

struct InlinedCalls {
  std::vector<JitDump::Call> calls;    // their texts are views into `texts`
  std::vector<JitDump::Place> places;  // sorted by distance from the start of the code
  std::vector<std::unique_ptr<std::string>> texts;
};

// Reads the calls of a compiled method: at most kMostPlaces places, and at most as many calls. The
// result has no places if there is no debug information or if it is invalid.
inline constexpr uint32_t kMostPlaces = 1 << 15;
InlinedCalls ReadInlinedCalls(const Blob& blob, const Layout& layout, ProcessMemory& memory,
                              Methods& methods);

}  // namespace profiler::symbolize::hotspot
