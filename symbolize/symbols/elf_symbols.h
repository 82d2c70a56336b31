// The symbols of one ELF image.

#pragma once

#include <cstddef>
#include <span>

#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::symbolize {

bool HasSymtab(const ElfImage& image);

// By ELF address: .symtab and .dynsym of `symbols`, and the PLT stubs of `runtime`; without .symtab
// the functions of Go. Both are one
// image, or `symbols` is the file with the debug information that was split off `runtime`. Counted
// are defined functions, IFUNCs, objects and visible labels in code. The files must outlive the
// table; nothing is read outside of them, whatever they say. With `leaves_out_dynamic` `symbols`
// has only what .dynsym of `runtime` has not, as in .gnu_debugdata, so that counts as well.
SymbolTable ReadElfSymbols(const ElfImage& runtime, const ElfImage& symbols,
                           bool leaves_out_dynamic = false);

}  // namespace profiler::symbolize
