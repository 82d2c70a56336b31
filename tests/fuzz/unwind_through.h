// Unwinds through the call frame information of any image.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/registers.h"

namespace profiler::fuzz {

// Unwinds a thread whose only code is this image, mapped with a hole in every other page if
// `has_holes`. Requires of its chain what is true for every chain.
void UnwindThrough(const symbolize::ElfImage& image,
                   std::span<const uint64_t, symbolize::kRegisters> values,
                   std::span<const std::byte> stack, bool has_holes);

}  // namespace profiler::fuzz
