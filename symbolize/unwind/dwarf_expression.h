// Evaluates the DWARF expressions of call frame information: where a register is saved, or what the
// CFA is. A stack machine of numbers as wide as the architecture's addresses, which reads registers
// and memory.
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
  kMalformed,        // unknown operator, stack empty or too high, too many steps
  kUnknownRegister,  // needs a register that is lost
  kUnreadable,       // needs memory that is not there
  kTooLong,          // needs more than the steps that are left
};

// Puts the top of the stack into `result`. `start`, where given, is on the stack at first: the CFA,
// for registers. At most 1 000 steps, however the expression jumps, and no more than `*steps_left`,
// from which they are taken.
Evaluation Evaluate(std::span<const std::byte> expression, const RegisterSet& registers,
                    MemoryReader& memory, std::optional<uint64_t> start, uint32_t* steps_left,
                    uint64_t* result);

}  // namespace profiler::symbolize
