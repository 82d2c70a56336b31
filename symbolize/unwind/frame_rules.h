// The rules that call frame information has at one instruction, for each register.
//
// Private to this package.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

// The location of the caller's value of one register.
struct RegisterRule {
  enum Kind : uint8_t {
    kUnspecified,      // no rule: the ABI decides whether the register is kept (IsCalleeSaved)
    kUndefined,        // the value is lost
    kSameValue,        // the value is still in the register
    kOffset,           // the value is saved at address CFA + offset
    kValueOffset,      // the value is the number CFA + offset
    kRegister,         // the value is in register number `offset`
    kExpression,       // the value is saved at the address that the expression computes
    kValueExpression,  // the value is the number that the expression computes
  };
  Kind kind = kUnspecified;
  // kExpression: the stack pointer has moved since the rule was set; see FrameRules::told_at.
  bool stack_moved = false;
  uint32_t expression_size = 0;
  // Offset, or register number. For the two expression kinds: index of the expression's first byte
  // in FrameRules::expressions. Expressions of registers start with the CFA on their stack.
  int64_t offset = 0;

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
  // Corrects information of GCC 12 to 16 for functions with SVE vectors on the stack. GCC describes
  // the slots of x29 and x30 relative to the stack pointer, and does not update this when the stack
  // pointer moves:
  //
  //   addvl sp, sp, #-1; sub sp, sp, #16    CFA = sp + 8 VG + 16
  //   stp   x29, x30, [sp]                                         x30 is saved at sp + 8
  //   addvl sp, sp, #-18                    CFA = sp + 152 VG + 16   (x30's rule is unchanged)
  //
  // The CFA does not move. `told_at` is the CFA rule that was valid when the register's rule was
  // set. So the difference between `told_at` and `cfa` is the distance by which the stack pointer
  // has moved since.
  CfaRule told_at;
  std::array<RegisterRule, kRegisters> registers;
  uint8_t return_address = 0;  // index of the return address in `registers`
  bool signal_frame = false;
  std::span<const std::byte> expressions;  // bytes of the section that contains the expressions

  std::span<const std::byte> Expression(int64_t offset, uint32_t size) const {
    const auto start = static_cast<uint64_t>(offset);
    if (start > expressions.size() || size > expressions.size() - start) return {};
    return expressions.subspan(start, size);
  }
};

}  // namespace profiler::symbolize
