// Frames of code that says nothing of them and whose frame pointer does not lead on: what their
// next instructions say.
//
// An interrupted function may not have set its frame up yet, or may have taken it down:
//
//   push rbp        ◀ the return address is on top of the stack
//   mov rbp, rsp    ◀ one word further up: the caller's frame pointer is on top
//   …                 where the frame pointer says
//   pop rbp         ◀ one word further up
//   ret             ◀ on top of the stack
//
// There the frame pointer is the caller's, and following it would leave the caller out. And a
// function that has no frame pointer at all is known behind a call, when nothing is left to do but
// to return. So are the trampolines by which CPython makes its functions known to profilers
// (Python/asm_trampoline.S, 3.12), one of which stands between any two Python frames:
//
//   sub rsp, 8
//   call rcx        ◀ one word further up, and so it is behind the call
//   add rsp, 8
//   ret
//
// On i386 the same instructions have no prefix for 64 bits, and words of 4 bytes.
//
// On AArch64 the return address is in the link register until a function saves it, and where it is
// saved does not say where the frame ends:
//
//   bti c; paciasp              ◀ the return address is in the link register
//   stp x29, x30, [sp, #-32]!   ◀ in the link register
//   mov x29, sp                 ◀ one word further up: the caller's frame pointer is on top
//   …                             where the frame pointer says
//   ldp x29, x30, [sp], #32     ◀ one word further up; the frame has four words
//   autiasp; ret                ◀ in the link register
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

inline constexpr size_t kBareFrameCode = 32;

// Where a frame's caller is, in words above the stack pointer.
struct WayBack {
  uint64_t return_address = 0;
  std::optional<uint64_t> frame_pointer;  // the caller's, where it is saved; else it is in place
  bool in_link_register = false;          // the return address; then it is not on the stack
  // The caller's stack pointer, on AArch64, where that shows. On x86 it is above the return
  // address.
  std::optional<uint64_t> caller_stack = std::nullopt;
  bool operator==(const WayBack&) const = default;
};

// `code`: from the interrupted instruction on, or from the one that a call returns to; zeroes where
// it is not known. None where it does not show it.
std::optional<WayBack> WayBackOf(Architecture architecture,
                                 std::span<const uint8_t, kBareFrameCode> code,
                                 bool is_interrupted);

}  // namespace profiler::symbolize
