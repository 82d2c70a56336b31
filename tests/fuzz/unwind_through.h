// Unwinds through the call frame information of any image.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/registers.h"
#include "symbolize/unwind/stack_words.h"

namespace profiler::fuzz {

// Unwinds a thread whose address space contains only code of `image`. If `has_holes`, only every
// other page of the address space is code. `rest` is StackBytes::rest. Requires the laws that hold
// for every call chain.
void UnwindThrough(const symbolize::ElfImage& image,
                   std::span<const uint64_t, symbolize::kRegisters> values,
                   std::span<const std::byte> stack, bool has_holes,
                   const symbolize::StackWords* rest = nullptr);

}  // namespace profiler::fuzz
