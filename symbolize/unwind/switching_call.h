// The calls by which a goroutine gets to the stack of its thread, found in code (stack_switch.cc),
// and what else goes on on another stack.

#pragma once

#include <optional>

#include "src/base/address.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// Whether the instruction before `return_address` calls `function`, or a stub that does nothing but
// jump to it.
bool FollowsCallOf(UnwindSpace& space, RuntimeAddress function, RuntimeAddress return_address);

// Whether a rule is that of __morestack, by which programs that were compiled with -fsplit-stack go
// on with a function on a new segment of their stack. It leaves out that function's first part,
// which has called it: its frame is a word larger than others with a frame pointer. Source: GCC's
// libgcc/config/i386/morestack.S.
constexpr bool StartsSegment(const UnwindRule& rule) {
  return rule.kind == UnwindRule::kFromFramePointer && rule.cfa_offset == 24 &&
         rule.frame_slot == -3 && rule.return_slot == -1;
}

// Whether `return_address` leads into a function of Go that has switched stacks.
bool IsBehindSwitchOfGo(UnwindSpace& space, RuntimeAddress return_address);

// Where the instruction before `return_address` calls directly; empty where it does not.
std::optional<RuntimeAddress> CalledBefore(UnwindSpace& space, RuntimeAddress return_address);

// Where the frame pointer of a function that switches stacks leads to, and who is left out then.
struct BehindSwitch {
  // Where the function that called the one that switches goes on; empty where `outer` is that.
  std::optional<RuntimeAddress> caller;
};

// `switching` and `outer` are return addresses: into a function that switches stacks, and the one
// beside the frame pointer that it was called with. Empty where it is not known who called: where
// nothing calls directly before `outer`, or where what is called there does not call that function.
// Where it does so several times, the first one is given. Reads the code of one function, 64 KB at
// most.
std::optional<BehindSwitch> FindBehindSwitch(UnwindSpace& space, RuntimeAddress switching,
                                             RuntimeAddress outer);

// Whether nothing called the function that `return_address` leads into.
bool IsInOutermostFunction(UnwindSpace& space, RuntimeAddress return_address);

}  // namespace profiler::symbolize
