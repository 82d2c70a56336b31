// Finds an unknown frame pointer by a function's instructions, for a rule that needs it.
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>

#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

// Returns the frame pointer of `frame`, whose instruction is at `address` and whose rule, of the
// kind kFromFramePointer, is `rule`. Empty if the instructions do not show the frame's size
// (stack_depth.h), or if it leads to no return address. Allocates and reads the function's code.
std::optional<uint64_t> RecoverFramePointer(const UnwindRule& rule, const ChainFrame& frame,
                                            ElfAddress address, StackReader& stack,
                                            const CodeSpace& space);

}  // namespace profiler::symbolize
