// Finds how far the stack pointer is below the CFA in a function whose call frame information
// counts from the frame pointer, for threads whose frame pointer is not known.
//
//   push rbp; mov rbp, rsp       │ return address │        CFA = rbp + 16, says the file
//   push rbx; sub rsp, 24        │ caller's rbp   │ ◀ rbp
//   call …                       │ rbx, locals    │
//                                │                │ ◀ rsp = CFA − 48, say the instructions
//
// The instructions are followed from the function's start along every path. An answer is given only
// if all paths agree on it. A function that takes room on the stack by an amount in a register
// (alloca) has none.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"

namespace profiler::symbolize {

// Larger functions have no answer.
inline constexpr uint64_t kMostCodeForDepth = uint64_t{1} << 16;

// Returns the distance in bytes from the stack pointer to the CFA at `address`, of x86-64 only.
// `function` is FunctionAt of it, and `code` its bytes. With `is_return_address` the call before
// `address` is under way. Cost: at most three times as many decoded instructions as the function
// has, 0.2 µs each.
std::optional<uint64_t> StackDepthAt(CfiTable& cfi, FunctionExtent function,
                                     std::span<const std::byte> code, ElfAddress address,
                                     bool is_return_address);

}  // namespace profiler::symbolize
