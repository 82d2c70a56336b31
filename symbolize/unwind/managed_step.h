// Steps from a frame in code of a virtual machine (managed_code.h).
//
// Private to this package.

#pragma once

#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/managed_code.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

// A step by the tables of a machine.
struct CheckedManagedStep {
  CallerStep caller;
  // True if `caller` is kNone and the machine knows that the frame pointer belongs to a caller, so
  // that it must not be followed.
  bool is_frameless = false;
  // If `caller` is kCaller: ManagedStep::listed and ManagedStep::frame_end.
  RuntimeAddress listed;
  uint64_t frame_end = 0;
};

// Steps from `frame`. `machine` is null if the process has none. The result is kNone if the machine
// does not know the caller. Then the memory that it read does not count as read late.
CheckedManagedStep StepByMachine(ManagedCode* machine, const ChainFrame& frame, StackReader& stack);

}  // namespace profiler::symbolize
