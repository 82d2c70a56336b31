// Finds the frame of a compiled method that was interrupted while its frame was being set up or
// removed. The second column shows where the return address is before each instruction:
//
//   cmp/jne …                    on top of the stack      an inline cache
//   mov [rsp − 0x14000], eax     on top                   touches the stack further down
//   push rbp                     on top
//   sub rsp, 0x20                one word above the top   rbp is on top
//   …                            the frame is complete    from frame_complete on
//   add rsp, 0x20                the frame is complete
//   pop rbp                      one word above the top
//   cmp rsp, [r15 + 0x340]; ja … on top                   a safepoint poll
//   ret                          on top
//
// Methods that do not touch the stack begin with: sub rsp, 0x28; mov [rsp + 0x20], rbp.
//
// Source: MacroAssembler::verified_entry, C1_MacroAssembler::build_frame and remove_frame,
// src/hotspot/cpu/x86, JDK 17 and 25.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace profiler::symbolize::hotspot {

// Offsets above the stack pointer, in bytes.
struct LeafFrame {
  uint64_t return_address = 0;
  std::optional<uint64_t> frame_pointer;  // offset of the caller's fp; empty: it is in the register
  bool operator==(const LeafFrame&) const = default;
};

// Returns the frame. `code` goes from the method's first instruction to the interrupted one, which
// must not be after the instruction that completes the frame. Empty if no compiler of HotSpot
// writes such code at the start of a method.
std::optional<LeafFrame> FrameInPrologue(std::span<const uint8_t> code);

// Returns the frame; empty if the frame is complete at the interrupted instruction. `code` begins
// at that instruction.
std::optional<LeafFrame> FrameInEpilogue(std::span<const uint8_t> code);

}  // namespace profiler::symbolize::hotspot
