// The interface for functions that continue on another stack and leave no address of one stack on
// the other. Code that knows such functions returns the caller of their frames (symbolize/go).
//
// The engine calls this interface only at addresses with CfiTable::StackSwitchAt.

#pragma once

#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

// A frame in a function that switches stacks.
struct SwitchingFrame {
  const ChainFrame& frame;
  const StackSwitch& at;
  bool leaves_out_c = false;  // UnwindLimits::leaves_out_c
};

// Steps from such frames. Stateless, so thread-safe.
class StackSwitches {
 public:
  virtual ~StackSwitches() = default;

  // Returns the step to the caller: kCaller, kUnreadable or kEnd.
  virtual CallerStep StepFrom(const SwitchingFrame& from, StackReader& stack,
                              const CodeSpace& space) const = 0;
};

}  // namespace profiler::symbolize
