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
    kUnspecified,      // default of the ABI: IsCalleeSaved
    kUndefined,        // the value is lost
    kSameValue,        // still in the register
    kOffset,           // saved at CFA + offset
    kValueOffset,      // CFA + offset itself
    kRegister,         // in the register number `offset`
    kExpression,       // saved at the result of the expression, which starts with the CFA
    kValueExpression,  // the result of the expression, which starts with the CFA
  };
  Kind kind = kUnspecified;
  // kExpression: the stack pointer has moved since the rule was set; see FrameRules::told_at.
  bool stack_moved = false;
  uint32_t expression_size = 0;
  // Expressions: position of the first byte in FrameRules::expressions.
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
  // The CFA does not move. So the stack pointer has moved by the difference between this rule,
  // which was valid when the register's rule was set, and `cfa`.
  CfaRule told_at;
  std::array<RegisterRule, kRegisters> registers;
  uint8_t return_address = 0;  // the column of the return address
  bool signal_frame = false;
  std::span<const std::byte> expressions;  // the section with the FDE

  std::span<const std::byte> Expression(int64_t offset, uint32_t size) const {
    const auto start = static_cast<uint64_t>(offset);
    if (start > expressions.size() || size > expressions.size() - start) return {};
    return expressions.subspan(start, size);
  }
};

}  // namespace profiler::symbolize
