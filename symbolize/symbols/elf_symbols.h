// Reads the symbols of an ELF image.

#pragma once

#include <cstddef>
#include <span>

#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/symbol_table.h"

namespace profiler::symbolize {

bool HasSymtab(const ElfImage& image);

// Returns a table of symbols, sorted by ELF address: the symbols in .symtab and .dynsym of
// `symbols`, and the PLT stubs of `runtime`. Without .symtab, adds Go's functions. `symbols` is
// either the same image as `runtime` or its separate debug file. The table has defined functions,
// IFUNCs, objects and visible labels in code. If `leaves_out_dynamic`, `symbols` lacks the symbols
// in .dynsym of `runtime` (as .gnu_debugdata does), so the table also has those. Never reads
// outside the files, which must outlive the table.
SymbolTable ReadElfSymbols(const ElfImage& runtime, const ElfImage& symbols,
                           bool leaves_out_dynamic = false);

}  // namespace profiler::symbolize
