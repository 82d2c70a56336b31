// Names the stubs of procedure linkage tables after the functions that they call: `malloc@plt`.
// Symbol tables do not contain these stubs.

#pragma once

#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::symbolize {

// Adds a symbol for each stub of .plt, .plt.sec and .plt.got, and `.plt` for the lazy-binding code
// at the start of .plt. Does nothing for machines whose
// stubs are unknown (ArchitectureTraits::linkage_stubs). The code of a
// stub contains the GOT slot that it jumps through, and a relocation of the slot contains the
// symbol. If an IFUNC fills the slot, the stub has the name of its resolver, which must be in
// `builder` already. A stub without a name is called `offset_0x1030@plt`, by its file offset.
void AddPltSymbols(const ElfImage& image, SymbolTableBuilder& builder);

}  // namespace profiler::symbolize
