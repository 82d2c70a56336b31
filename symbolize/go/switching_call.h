// Recognizes calls of Go's functions that switch stacks (stack_switches.h), by their code.

#pragma once

#include <optional>

#include "src/base/address.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// Returns true if the instruction before `return_address` calls `function`, or a stub that only
// jumps to it.
bool FollowsCallOf(UnwindSpace& space, RuntimeAddress function, RuntimeAddress return_address);

// Returns true if `return_address` is in a Go function that has switched stacks.
bool IsBehindSwitchOfGo(UnwindSpace& space, RuntimeAddress return_address);

// Returns the target of the call before `return_address`; empty if that is no direct call.
std::optional<RuntimeAddress> CalledBefore(UnwindSpace& space, RuntimeAddress return_address);

// The caller of a stack-switching function. Following the frame pointer would skip this caller.
struct BehindSwitch {
  // Return address into the caller; empty: it is the argument `outer` of FindBehindSwitch.
  std::optional<RuntimeAddress> caller;
};

// Finds the caller of a stack-switching function. `switching` is a return address in the switching
// function. `outer` is the return address beside the frame pointer with which the switching
// function was called. Empty if the caller is unknown: either no direct call is before `outer`, or
// the function called there does not call the switching function. If it contains several calls of
// the switching function, uses the first. Reads the code of one function, at most 64 KB.
std::optional<BehindSwitch> FindBehindSwitch(UnwindSpace& space, RuntimeAddress switching,
                                             RuntimeAddress outer);

// Returns true if the function that contains `return_address` has no caller.
bool IsInOutermostFunction(UnwindSpace& space, RuntimeAddress return_address);

}  // namespace profiler::symbolize
