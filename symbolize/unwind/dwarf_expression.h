// Evaluates DWARF expressions in call frame information, which compute a register's address or the
// CFA. An expression runs on a stack machine, whose numbers are as wide as addresses, and may read
// registers and memory.
//
// Source: DWARF 5, 2.5 and 6.4.2: no operators that need a compilation unit or a call frame.
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
  kTooLong,          // needs more than `*steps_left`
};

// Evaluates `expression` and stores the top of the stack in `result`. If `start` is given, it is on
// the stack at first: the CFA, for expressions of registers. Runs at most 1,000 steps, and at most
// `*steps_left`, from which they are subtracted.
Evaluation Evaluate(std::span<const std::byte> expression, const RegisterSet& registers,
                    MemoryReader& memory, std::optional<uint64_t> start, uint32_t* steps_left,
                    uint64_t* result);

}  // namespace profiler::symbolize
