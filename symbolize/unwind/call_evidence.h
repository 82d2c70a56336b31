// Decides from the instructions before an address if the address may be a return address, and whom
// the call before it may call.
//
// All functions read at most 128 bytes of code. They are for steps that need a proof; frames with
// call frame information need none.
//
// Private to this package and to the packages that step for it (stack_switches.h).

#pragma once

#include <cstdint>

#include "src/base/address.h"
#include "symbolize/unwind/code_space.h"

namespace profiler::symbolize {

// Returns true if `address`, which may be signed, is in code and follows a call.
bool IsReturnAddress(const CodeSpace& space, uint64_t address);

// Returns false if the instruction before `address` is certainly no call. Unlike IsReturnAddress,
// returns true if the instruction cannot be read.
bool MayFollowCall(const CodeSpace& space, uint64_t address);

// Returns true if a system call precedes `pc`. A thread in a system call has its pc after the
// instruction, which may be the last one of its function. An example is the C library's return from
// a signal.
bool FollowsSystemCall(const CodeSpace& space, uint64_t pc);

// Returns true if the call before `return_address` may call `function`: its target is `function`,
// code that jumps to `function`, or an address in a register or memory.
bool CallsFunction(const CodeSpace& space, uint64_t return_address, RuntimeAddress function);

}  // namespace profiler::symbolize
