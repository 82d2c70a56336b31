// Unwinding by the call frame information of any image.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/registers.h"

namespace profiler::fuzz {

// Unwinds a thread that has only code of this image, where `has_holes` in every other page, and
// requires of its chain what holds of every chain.
void UnwindThrough(const symbolize::ElfImage& image,
                   std::span<const uint64_t, symbolize::kRegisters> values,
                   std::span<const std::byte> stack, bool has_holes);

}  // namespace profiler::fuzz
