// The instruction set of code in an ELF file.

#pragma once

#include <cstdint>

#include "symbolize/elf/elf_image.h"

namespace profiler::symbolize {

// The machine of the code at `address`, with the marks of symbolize/code_machine.h. Code of 32-bit
// ARM is Thumb if the last mapping symbol in front of it is `$t`; without mapping symbols, if its
// function's symbol is odd. Costs a pass over the symbols for 32-bit ARM.
uint16_t CodeMachineOf(const ElfImage& elf, ElfAddress address);

}  // namespace profiler::symbolize
