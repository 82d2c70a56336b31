// One step from a frame to its caller by full rules: every register, slowly.
//
// Private to this package.

#pragma once

#include "symbolize/unwind/dwarf_expression.h"
#include "symbolize/unwind/frame_rules.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

enum class Stepped : uint8_t {
  kCaller,           // the registers are the caller's
  kThreadStart,      // there is no caller
  kUnknownRegister,  // needs a register that is lost
  kUnreadable,       // needs memory that is not there
  kMalformed,
  kTooLong,  // takes more steps of expressions than are left
};

// Turns a frame's registers into its caller's. A callee-saved register that cannot be read is lost,
// and so is every other one that has no rule; the return address and the CFA must be known.
//
// An interrupted frame may be in its epilogue, where rules still name the slots of registers that
// were popped. Such a slot is not between stack pointer and CFA any more, and the register has its
// value again.
//
// The steps of expressions are taken from `*expression_steps`.
Stepped StepByRules(const FrameRules& rules, bool is_interrupted, MemoryReader& memory,
                    uint32_t* expression_steps, RegisterSet* registers);

// The same for a frame that is the kernel's return from a signal handler, of which nothing is said:
// musl's, Go's, and the vdso's on AArch64. The instructions at its pc, or on AArch64 before it,
// tell it, and the interrupted registers are on its stack. kMalformed for any other code.
//
//   x86-64    pc: mov $15, %eax or %rax; syscall      sp: struct ucontext
//   AArch64   pc: mov x8, #139; svc #0                sp: siginfo (128 bytes), struct ucontext
//   i386      pc: mov $173, %eax; int $0x80           sp: number, two pointers, siginfo, ucontext
//             pc: pop %eax; mov $119, %eax; int …     sp: number, struct sigcontext
//
// Sources: arch/x86/include/asm/sigframe.h, arch/arm64/kernel/signal.c and the uapi/asm
// sigcontext.h of both, Linux 6.1.
Stepped StepOverSignalReturn(MemoryReader& memory, RegisterSet* registers);

}  // namespace profiler::symbolize
