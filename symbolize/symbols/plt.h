// The stubs of a procedure linkage table, named after what they call: `malloc@plt`. Symbol tables
// do not list them.

#pragma once

#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::symbolize {

// Adds a symbol for each stub of .plt, .plt.sec and .plt.got, and `.plt` for the code at the start
// of .plt that binds lazily. For x86-64 and AArch64; does nothing for other machines. A stub's code
// says which GOT slot it jumps through, and the slot's relocation says for which symbol; a stub
// whose slot is an IFUNC's resolver has the name of the resolver, which must be in `builder`
// already. A stub without a name is `offset_0x1030@plt`, by its place in the file.
void AddPltSymbols(const ElfImage& image, SymbolTableBuilder& builder);

}  // namespace profiler::symbolize
