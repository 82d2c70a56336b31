// Finds the caller of a frame by the frame's next instructions. Used if there is no call frame
// information and the frame pointer does not help.
//
// An interrupted function may not have set up its frame yet, or may have removed it:
//
//   instruction       position of the return address
//   push rbp        ◀ on top of the stack
//   mov rbp, rsp    ◀ one word above the top; the caller's frame pointer is on top
//   …                 one word above the address in rbp
//   pop rbp         ◀ one word above the top
//   ret             ◀ on top of the stack
//
// At the marked instructions (◀) rbp still has the caller's frame pointer, so following it would
// skip the caller. If a function has no frame pointer and has made a call, it can be unwound if the
// only code after the call removes the frame and returns. Examples are the trampolines by which
// CPython shows its functions to profilers (Python/asm_trampoline.S, 3.12). One trampoline is
// between any two Python frames:
//
//   sub rsp, 8
//   call rcx        ◀ one word above the top, also after the call
//   add rsp, 8
//   ret
//
// On i386 the same instructions have no prefix for 64 bits, and words have 4 bytes.
//
// If there is a link register, it has the return address until a function saves it. The position of
// the saved return address does not show where the frame ends:
//
//   bti c; paciasp              ◀ the return address is in the link register
//   stp x29, x30, [sp, #-32]!   ◀ in the link register
//   mov x29, sp                 ◀ one word above the top; the caller's frame pointer is on top
//   …                             one word above the address in x29
//   ldp x29, x30, [sp], #32     ◀ one word above the top; the frame has four words
//   autiasp; ret                ◀ in the link register
//
// Private to this package.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "symbolize/unwind/arch/architecture.h"
#include "symbolize/unwind/arch/return_path.h"

namespace profiler::symbolize {

// Returns the positions of the caller's registers; empty if `code` does not show them. `code`
// begins at the interrupted instruction, or at a return address; unknown bytes are 0.
inline std::optional<ReturnPath> ReturnPathOf(Architecture architecture,
                                              std::span<const uint8_t, kBareFrameCode> code,
                                              bool is_interrupted) {
  if (architecture->return_path == nullptr) return std::nullopt;
  return architecture->return_path(code, is_interrupted);
}

}  // namespace profiler::symbolize
