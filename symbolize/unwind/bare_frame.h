// Functions that are interrupted where they have no frame of their own: before they set one up by
// its frame pointer, or after they took it down.
//
//   push rbp        ◀ the return address is on top of the stack
//   mov rbp, rsp    ◀ one word further up: the caller's frame pointer is on top
//   …                 where the frame pointer says
//   pop rbp           likewise
//   ret             ◀ on top of the stack
//
// There the frame pointer is the caller's, and following it would leave the caller out.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

inline constexpr size_t kBareFrameCode = 8;

// How many words above the stack pointer the return address is, where `code`, from the interrupted
// instruction on, shows that the frame pointer does not lead to it. Knows x86-64 only.
std::optional<uint32_t> ReturnAddressAt(Architecture architecture,
                                        std::span<const uint8_t, kBareFrameCode> code);

}  // namespace profiler::symbolize
