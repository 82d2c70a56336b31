// All that call frame information says of a frame at one instruction, register by register.
//
// Private to this package.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

// Where the caller's value of one register is.
struct RegisterRule {
  enum Kind : uint8_t {
    kUnspecified,      // as the ABI says: IsCalleeSaved
    kUndefined,        // lost
    kSameValue,        // still in the register
    kOffset,           // saved at CFA + offset
    kValueOffset,      // CFA + offset itself
    kRegister,         // in the register number `offset`
    kExpression,       // saved at the address that the expression gives, from the CFA
    kValueExpression,  // what the expression gives, from the CFA
  };
  Kind kind = kUnspecified;
  bool stack_moved = false;  // kExpression: since it was told; see FrameRules::told_at
  uint32_t expression_size = 0;
  int64_t offset = 0;  // for expressions: of the first byte in FrameRules::expressions

  bool operator==(const RegisterRule&) const = default;
};

struct CfaRule {
  enum Kind : uint8_t { kNone, kRegister, kExpression };
  Kind kind = kNone;
  uint8_t number = 0;  // kRegister: CFA = register `number` + offset
  uint32_t expression_size = 0;
  int64_t offset = 0;

  bool operator==(const CfaRule&) const = default;
};

struct FrameRules {
  CfaRule cfa;
  // GCC, of functions that keep vectors of SVE on the stack, tells where it has saved x29 and x30
  // by the stack pointer, and does not tell it again when that moves on (seen of 12 to 16):
  //
  //   addvl sp, sp, #-1; sub sp, sp, #16    CFA = sp + 8 VG + 16
  //   stp   x29, x30, [sp]                                         x30 is saved at sp + 8
  //   addvl sp, sp, #-18                    CFA = sp + 152 VG + 16   (still so, by what it tells)
  //
  // The frame has stayed where it is, so by how much the pointer has moved is the difference of
  // this rule, which was true when the register's was told, and `cfa`.
  CfaRule told_at;
  std::array<RegisterRule, kRegisters> registers;
  uint8_t return_address = 0;  // the column of the return address
  bool signal_frame = false;
  std::span<const std::byte> expressions;  // the section that holds the FDE

  std::span<const std::byte> Expression(int64_t offset, uint32_t size) const {
    const auto start = static_cast<uint64_t>(offset);
    if (start > expressions.size() || size > expressions.size() - start) return {};
    return expressions.subspan(start, size);
  }
};

}  // namespace profiler::symbolize
