// The frame of a compiled method that was interrupted where it is being set up or taken down:
//
//   cmp/jne … (an inline cache)  ◀ the return address is on top of the stack
//   mov [rsp − 0x14000], eax     ◀ likewise: touches the stack further down
//   push rbp                     ◀ one word further up: rbp is on top
//   sub rsp, 0x20                ◀ whole, from frame_complete on
//   …
//   add rsp, 0x20
//   pop rbp                      ◀ one word further up
//   cmp rsp, [r15 + 0x340]; ja … ◀ on top: is a safepoint wanted?
//   ret                          ◀ on top
//
// Or, where the stack is not touched: sub rsp, 0x28; mov [rsp + 0x20], rbp.
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

// Above the stack pointer, in bytes.
struct LeafFrame {
  uint64_t return_address = 0;
  std::optional<uint64_t> frame_pointer;  // where the caller's is; nothing: in the register
  bool operator==(const LeafFrame&) const = default;
};

// `code`: from the method's first instruction to the one that was interrupted, which is not behind
// the one that makes the frame whole. Nothing for what no compiler of HotSpot writes there.
std::optional<LeafFrame> FrameInPrologue(std::span<const uint8_t> code);

// `code`: from the instruction that was interrupted on. Nothing where the frame is whole there.
std::optional<LeafFrame> FrameInEpilogue(std::span<const uint8_t> code);

}  // namespace profiler::symbolize::hotspot
