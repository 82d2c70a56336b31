// The instruction set of code in an ELF file.

#pragma once

#include <cstdint>

#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

// Returns the machine of the code at `address`, with the bits of symbolize/code_machine.h. 32-bit
// ARM code is Thumb if the last mapping symbol in front of it is `$t`. Without mapping symbols, it
// is Thumb if the symbol of its function has an odd address. Costs a pass over the symbols for
// 32-bit ARM.
uint16_t CodeMachineOf(const ElfImage& elf, ElfAddress address);

}  // namespace profiler::symbolize
