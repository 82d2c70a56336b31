// Finds the distance from the stack pointer to the CFA in a function whose call frame information
// is based on the frame pointer, for threads whose frame pointer is unknown.
//
//   push rbp; mov rbp, rsp       │ return address │        CFA = rbp + 16, by the file
//   push rbx; sub rsp, 24        │ caller's rbp   │ ◀ rbp
//   call …                       │ rbx, locals    │
//                                │                │ ◀ rsp = CFA − 48, by the instructions
//
// Follows the instructions from the function's start along every path, and returns a distance only
// if all paths agree. Returns no distance for a function that reserves stack space by an amount in
// a register (alloca).
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

// Larger functions have no result.
inline constexpr uint64_t kMostCodeForDepth = uint64_t{1} << 16;

// Returns the distance in bytes from the stack pointer to the CFA at `address`; only for x86-64.
// `function` is FunctionAt of `address`, and `code` its bytes. If `is_return_address`, the call
// before `address` is in progress. Cost: decodes each instruction of the function at most three
// times, 0.2 µs each.
std::optional<uint64_t> StackDepthAt(CfiTable& cfi, FunctionExtent function,
                                     std::span<const std::byte> code, ElfAddress address,
                                     bool is_return_address);

}  // namespace profiler::symbolize
