// Decodes the effects of single AArch64 instructions on a frame. Instructions have 32 bits,
// little-endian:
//
//   31 30 29 28 27 26 25 24 23 22 21      15 14      10 9     5 4     0
//    1  0  1  0  1  0  0 ├─┤  L ├── imm7 ──┤├── Rt2 ──┤├─ Rn ─┤├─ Rt ─┤  ldp, stp of x registers
//    1  1  1  1  1  0  0  0  0  L  0 ├─ imm9 ──┤ ├op┤  ├─ Rn ─┤├─ Rt ─┤  ldr, str, sp moves
//    1  1  1  1  1  0  0  1  0  L ├──── imm12 ──────┤  ├─ Rn ─┤├─ Rt ─┤  ldr, str
//    1  ±  0  1  0  0  0  1  0 sh ├──── imm12 ──────┤  ├─ Rn ─┤├─ Rd ─┤  add, sub
//
// Source: Arm Architecture Reference Manual for A-profile, DDI 0487, C4.1 and C6.2.
//
// Private to this folder.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbolize/unwind/arch/architecture.h"
#include "symbolize/unwind/arch/return_path.h"

namespace profiler::symbolize::aarch64 {

inline constexpr size_t kInstruction = 4;  // size of an instruction in bytes

// Register numbers in instructions. In most instructions that compute, 31 means zero instead of sp.
inline constexpr unsigned kArmFp = 29, kArmLink = 30, kArmSp = 31;
constexpr unsigned ArmRt(uint32_t code) { return code & 31; }
constexpr unsigned ArmRn(uint32_t code) { return code >> 5 & 31; }

// Returns the signed number in the lowest `bits` bits of `value`.
constexpr int64_t SignedBits(uint32_t value, unsigned bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t kept = value & (2 * sign - 1);
  return static_cast<int64_t>((kept ^ sign) - sign);
}

// A load or store of x registers at an address relative to the stack pointer.
struct StackAccess {
  bool is_load = false;
  // Numbers of the loaded or stored registers. If `second` is kArmSp, there is only one.
  unsigned first = 0, second = kArmSp;
  // Bytes from the old stack pointer to the first register's slot.
  int64_t offset = 0;
};
std::optional<StackAccess> AsStackAccess(uint32_t code);

// Returns the number of bytes by which a load or store relative to the stack pointer changes the
// stack pointer. Returns 0 for all other instructions.
int64_t AccessMovesStack(uint32_t code);

// Returns the number that `add Rd, Rn, #number` adds to register `base`; negative for sub. Empty if
// the instruction is no add or sub of x registers, or if Rn is not `base`.
std::optional<int64_t> AddedTo(unsigned base, uint32_t code);

// Returns true for loads and stores of any registers.
constexpr bool IsArmMemoryAccess(uint32_t code) { return (code >> 25 & 5) == 4; }
// Returns true for computing instructions (data processing), with an immediate or with registers.
constexpr bool IsArmDataProcessing(uint32_t code) {
  return (code >> 26 & 7) == 4 || (code >> 25 & 7) == 5;
}
bool WritesStackPointer(uint32_t code);
// Returns true if the instruction may change register `number`, which is 29 or 30. Do not use it
// for calls, which write register 30.
bool WritesRegister(unsigned number, uint32_t code);

// Returns true for bti c, bti jc, paciasp and pacibsp, which only occur at the start of a function.
bool IsArmEntry(uint32_t code);
// Returns true for ret, retaa and retab.
bool ReturnsByLink(uint32_t code);
constexpr bool IsArmCall(uint32_t code) {
  return code >> 26 == 0x25 || (code & 0xfefff000) == 0xd63f0000;  // bl; blr, blraa …
}

// Implements ReturnPathOf.
std::optional<ReturnPath> FindReturnPath(std::span<const uint8_t, kBareFrameCode> code,
                                         bool is_interrupted);

// Returns the target of the direct call `call`, an instruction at `address`. Empty for a call
// through a register and for other instructions.
std::optional<uint64_t> TargetOfCall(uint32_t call, uint64_t address);

// Returns the address that the instruction `code` at `address` computes. The instruction is an adr,
// or an add that follows an adrp of the same register; `before` is the instruction in front of
// `code`. Empty for other instructions.
std::optional<uint64_t> TakenAddress(uint32_t before, uint32_t code, uint64_t address);

// Returns the uses of the link register and of the stack pointer in `code`.
LinkUse UseOfLink(std::span<const uint8_t> code);

}  // namespace profiler::symbolize::aarch64
