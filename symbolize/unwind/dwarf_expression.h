// Evaluates DWARF expressions in call frame information, which compute a register's address or the
// CFA. An expression runs on a stack machine, whose numbers are as wide as addresses, and may read
// registers and memory.
//
// Operators that need a compilation unit or a call frame are not supported; they do not occur in
// call frame information. Source: DWARF 5, 2.5 and 6.4.2.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbolize/unwind/memory_reader.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

enum class Evaluation : uint8_t {
  kDone,
  kMalformed,        // unknown operator, stack underflow or overflow, too many steps
  kUnknownRegister,  // needs a register whose value is lost
  kUnreadable,       // needs memory that cannot be read
  kTooLong,          // needs more steps than `*steps_left`
};

// Evaluates `expression` and stores the final top of the stack in `result`. The stack begins with
// `start`, if it is given. Pass the CFA for the expression of a register, and nothing for the
// expression of the CFA. Runs at most 1,000 steps and at most `*steps_left` steps. Subtracts the
// steps that ran from `*steps_left`.
Evaluation Evaluate(std::span<const std::byte> expression, const RegisterSet& registers,
                    MemoryReader& memory, std::optional<uint64_t> start, uint32_t* steps_left,
                    uint64_t* result);

}  // namespace profiler::symbolize
