// The calls by which a goroutine gets to the stack of its thread, found in code (stack_switch.cc),
// and what else goes on on another stack.

#pragma once

#include <optional>
#include <span>

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

// Of a goroutine's first function, if that has the frame to which `frame_pointer` points and calls
// the function into which `switching` leads: where it goes on after that, and what it returns to
// itself. It is found by whatever it calls when its stack is read, so it may call something else by
// now. Reads 8 KB of stack at most.
struct FirstFunction {
  RuntimeAddress caller, outermost;  // return addresses
};
std::optional<FirstFunction> FindFirstFunction(UnwindSpace& space, RuntimeAddress switching,
                                               uint64_t frame_pointer);

// Whether the function that `return_address` leads into switches stacks to call C for a goroutine:
// it has saved which one that is, to go back to it.
bool KeepsGoroutine(UnwindSpace& space, RuntimeAddress return_address);

// Where runtime.cgocall, by which goroutines call C, goes on when the function returns into which
// `return_address` leads; empty where it does not call that.
std::optional<RuntimeAddress> FindCallOfC(UnwindSpace& space, RuntimeAddress return_address);

// How far out of the frame pointer that C was called with the frame of cgocall has its own, which
// makes that call after `call`: nothing where the function that switches, into which
// `return_address` leads, has no frame, as in older versions (1.19).
uint64_t FrameOfCallOfC(UnwindSpace& space, RuntimeAddress return_address, RuntimeAddress call);

// What is called through cgocall by a function that goes on at `return_address` then. Each function
// of C has one of Go like that for itself, made by cgo, which loads its address from a variable.
struct CalledC {
  RuntimeAddress function;                 // made by cgo as well
  std::optional<RuntimeAddress> jumps_to;  // what it ends with, instead of returning
};
std::optional<CalledC> FindCalledC(UnwindSpace& space, RuntimeAddress return_address);

// The start of the function that has the instruction; empty where nothing is known of it.
std::optional<RuntimeAddress> FunctionOf(UnwindSpace& space, RuntimeAddress instruction);

// Whether the call in each of `frames` is one of the function of the frame before it, leaf first.
// Where a call goes is not known of all: those may be any.
bool CallOneAnother(UnwindSpace& space, std::span<const UnwoundFrame> frames);

// Whether nothing called the function that `return_address` leads into.
bool IsInOutermostFunction(UnwindSpace& space, RuntimeAddress return_address);

}  // namespace profiler::symbolize
