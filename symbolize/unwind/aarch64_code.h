// What instructions of AArch64 do to a frame, as far as that shows in one instruction: 32 bits
// each, little-endian.
//
//   31 30 29 28 27 26 25 24 23 22 21      15 14      10 9     5 4     0
//    1  0  1  0  1  0  0 ├─┤  L ├── imm7 ──┤├── Rt2 ──┤├─ Rn ─┤├─ Rt ─┤  ldp, stp of x registers
//    1  1  1  1  1  0  0  0  0  L  0 ├─ imm9 ──┤ ├op┤  ├─ Rn ─┤├─ Rt ─┤  ldr, str, sp moves
//    1  1  1  1  1  0  0  1  0  L ├──── imm12 ──────┤  ├─ Rn ─┤├─ Rt ─┤  ldr, str
//    1  ±  0  1  0  0  0  1  0 sh ├──── imm12 ──────┤  ├─ Rn ─┤├─ Rd ─┤  add, sub
//
// Source: Arm Architecture Reference Manual for A-profile, DDI 0487, C4.1 and C6.2.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbolize/unwind/bare_frame.h"

namespace profiler::symbolize {

inline constexpr size_t kAArch64Instruction = 4;  // bytes

// As WayBackOf has it.
std::optional<WayBack> WayBackOnAArch64(std::span<const uint8_t, kBareFrameCode> code,
                                        bool is_interrupted);

// Where the call `call`, an instruction at `address`, leads; empty for one through a register, and
// for what is no call.
std::optional<uint64_t> TargetOfCall(uint32_t call, uint64_t address);

// What `code` does to the two registers by which its caller is found, whichever way it is run
// through. All instructions of a function up to the one that was interrupted tell whether it has
// called, or saved where it returns to, and what it has taken of the stack.
struct LinkUse {
  bool keeps_link = true;   // the link register is neither written nor saved
  bool keeps_stack = true;  // the stack pointer is not written
};
LinkUse UseOfLink(std::span<const uint8_t> code);

}  // namespace profiler::symbolize
