// Finds the distance from the stack pointer to the CFA in a function whose call frame information
// is based on the frame pointer, for threads whose frame pointer is unknown.
//
//   push rbp; mov rbp, rsp       │ return address │
//   push rbx; sub rsp, 24        │ caller's rbp   │ ◀ rbp = CFA − 16    known from the file
//   call …                       │ rbx, locals    │
//                                │                │ ◀ rsp = CFA − 48    found in the instructions
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

// Largest function in bytes that is examined. Larger functions have no result.
inline constexpr uint64_t kMostCodeForDepth = uint64_t{1} << 16;

// Returns the distance in bytes from the stack pointer to the CFA at `address`; only for x86-64.
// `function` is the result of FunctionAt(address), and `code` has the function's bytes. If
// `is_return_address` is true, the call before `address` is in progress. Cost: decodes each
// instruction of the function at most three times, 0.2 µs each time.
std::optional<uint64_t> StackDepthAt(CfiTable& cfi, FunctionExtent function,
                                     std::span<const std::byte> code, ElfAddress address,
                                     bool is_return_address);

}  // namespace profiler::symbolize
