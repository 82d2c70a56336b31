// Steps from a frame without call frame information by its next instructions (bare_frame.h), or by
// a return address in the link register or on top of the stack.
//
// Private to this package.

#pragma once

#include <optional>

#include "symbolize/unwind/bare_frame.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

// Returns the positions of the caller's registers if the frame's next instructions show that
// following the frame pointer would be wrong.
std::optional<ReturnPath> FindReturnPath(const ChainFrame& frame, const StackReader& stack,
                                         const CodeSpace& space);

// Searches the return address of an interrupted function about which nothing is known: in the link
// register, then in the topmost 8 copied words of the stack. Takes the first address that follows a
// call.
std::optional<ReturnPath> SearchReturnAddress(const ChainFrame& frame, const StackReader& stack,
                                              const CodeSpace& space);

// Steps to the caller whose registers are at `path`. The result is kCaller or kUnreadable.
CallerStep ReturnBy(const ReturnPath& path, const ChainFrame& frame, StackReader& stack,
                    const CodeSpace& space);

}  // namespace profiler::symbolize
