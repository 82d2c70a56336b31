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

// Numbers of registers in instructions; in most of those that compute, 31 is zero instead.
inline constexpr unsigned kArmFp = 29, kArmLink = 30, kArmSp = 31;
constexpr unsigned ArmRt(uint32_t code) { return code & 31; }
constexpr unsigned ArmRn(uint32_t code) { return code >> 5 & 31; }

// The lowest `bits` of `value`, of which the highest is the sign.
constexpr int64_t SignedBits(uint32_t value, unsigned bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t kept = value & (2 * sign - 1);
  return static_cast<int64_t>((kept ^ sign) - sign);
}

// A load or store of x registers whose address is the stack pointer's.
struct StackAccess {
  bool is_load = false;
  unsigned first = 0, second = kArmSp;  // registers; kArmSp: there is no second
  int64_t offset = 0;                   // of the first, in bytes from the stack pointer before it
};
std::optional<StackAccess> AsStackAccess(uint32_t code);

// By how many bytes a load or store of any register moves the stack pointer, by which it goes; 0
// for all else.
int64_t AccessMovesStack(uint32_t code);

// add Rd, Rn, #bytes, or sub, where Rn is `base`, of x registers: the bytes.
std::optional<int64_t> AddedTo(unsigned base, uint32_t code);

// Loads and stores, of any kind of registers.
constexpr bool IsArmMemoryAccess(uint32_t code) { return (code >> 25 & 5) == 4; }
// Data processing, with an immediate or with registers alone.
constexpr bool IsArmDataProcessing(uint32_t code) {
  return (code >> 26 & 7) == 4 || (code >> 25 & 7) == 5;
}
bool WritesStackPointer(uint32_t code);
// Whether it may leave another value in the register, 29 or 30. Calls, which write 30, are not
// asked about.
bool WritesRegister(unsigned number, uint32_t code);

// bti c, bti jc, paciasp, pacibsp: with which a function begins, and nothing else does.
bool IsArmEntry(uint32_t code);
// ret, retaa, retab.
bool ReturnsByLink(uint32_t code);
constexpr bool IsArmCall(uint32_t code) {
  return code >> 26 == 0x25 || (code & 0xfefff000) == 0xd63f0000;  // bl; blr, blraa …
}

// As WayBackOf has it.
std::optional<WayBack> WayBackOnAArch64(std::span<const uint8_t, kBareFrameCode> code,
                                        bool is_interrupted);

// Where the call `call`, an instruction at `address`, leads; empty for one through a register, and
// for what is no call.
std::optional<uint64_t> TargetOfCall(uint32_t call, uint64_t address);

// The address that `code`, an instruction at `address`, takes: adr, or add behind adrp of the same
// register, which is `before`. Empty for all else.
std::optional<uint64_t> TakenAddress(uint32_t before, uint32_t code, uint64_t address);

// What `code` does to the two registers by which its caller is found, whichever way it is run
// through. All instructions of a function up to the one that was interrupted tell whether it has
// called, or saved where it returns to, and what it has taken of the stack.
struct LinkUse {
  bool keeps_link = true;   // the link register is neither written nor saved
  bool keeps_stack = true;  // the stack pointer is not written
};
LinkUse UseOfLink(std::span<const uint8_t> code);

}  // namespace profiler::symbolize
