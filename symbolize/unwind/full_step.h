// Steps from a frame to its caller with full rules: for every register, slowly.
//
// Private to this package.

#pragma once

#include "symbolize/unwind/dwarf_expression.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

enum class Stepped : uint8_t {
  kCaller,           // success: the registers are the caller's
  kThreadStart,      // there is no caller
  kUnknownRegister,  // needs a register whose value is lost
  kUnreadable,       // needs memory that cannot be read
  kMalformed,
  kTooLong,  // needs more expression steps than `*expression_steps`
};

// Replaces a frame's registers by its caller's. A callee-saved register that cannot be read is
// lost, like every other register without a rule. Return address and CFA must be known.
//
// An interrupted frame may be in its epilogue. There, rules still refer to slots of registers that
// were already popped. Such a slot is below the stack pointer, and the register has the caller's
// value again.
//
// `*expression_steps` is the number of steps that expressions may still run. Subtracts the steps
// that ran.
Stepped StepByRules(const FrameRules& rules, bool is_interrupted, MemoryReader& memory,
                    uint32_t* expression_steps, RegisterSet* registers);

// Steps from the code that returns from a signal handler to the kernel, if this code has no call
// frame information (ArchitectureTraits::signal_returns). The code is recognized by the
// instructions at pc. The registers of the interrupted function are on the stack. Returns
// kMalformed for other code.
Stepped StepOverSignalReturn(MemoryReader& memory, RegisterSet* registers);

}  // namespace profiler::symbolize
