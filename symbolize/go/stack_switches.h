// Steps from Go functions that continue on another stack.
//
// A goroutine has a small stack of its own. Code that needs a larger stack, which is most of the
// runtime and all of C, runs on the stack of the thread. The functions that switch stacks leave no
// address of one stack on the other. But they do not change the frame pointer. So the first
// function on the thread's stack saves the frame pointer of the function on the goroutine's stack:
//
//   the thread's stack                      the goroutine's stack
//   │ …              │                      │ …              │
//   │ frame pointer  │ ──┐                  │ return address │ ◀ 1. follows a call of the switching
//   │ return address │   │                  ├────────────────┤    function
//   ├─ the function ─┤   │                  │ the caller's   │
//   │  that switches │   └────────────────▶ │ frame pointer  │ ◀ 2. at the distance of the caller's
//   │ (of another)   │                      │ return address │    frame size
//
// If condition 1 or 2 does not hold, the chain ends. If the switching function has a frame itself,
// the saved frame pointer points to the frame of the switching function.
//
// If C calls Go, the frames of Go are put on the goroutine's stack, next to the frames that had
// called C. Only one address lies between the two groups of frames. It belongs to a function that
// nobody calls; Go recognizes the border between the groups by it:
//
//   the goroutine's stack
//   │ …              │
//   ├─ cgocallback ──┤ ── frame pointer ──▶ on the thread's stack, because C has called it
//   │ the address    │
//   │ return address │ ◀ comes after a call of asmcgocall, which has called C
//   ├─ cgocall ──────┤

#pragma once

#include "symbolize/unwind/stack_switches.h"

namespace profiler::symbolize {

// Returns the steps from Go functions, for Unwinder. They exist as long as the program.
const StackSwitches* GoStackSwitches();

}  // namespace profiler::symbolize
