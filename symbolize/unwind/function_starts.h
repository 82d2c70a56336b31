// Finds the starts of functions without call frame information: addresses that symbols name, that
// other code calls, or that other code loads.
//
//   x86-64               call f             lea r, [f]
//   i386                 call f             lea r, [b + f − GOT], if b has the GOT's address;
//                                           push f, mov r, f, or mov [m], f: only in code at a
//                                           fixed address
//   fixed-size           bl f               adrp r, page; add r, r, #offset, or adr r, f
//   instructions
//
// Some results are wrong: on x86, a part of an instruction may look like a call; elsewhere, data
// may. A start is certain if it is called from two addresses, or if it is aligned and looks like the
// start of a function. An address that is loaded within its own function is the label of a computed
// jump and is left out.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_budget.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

inline bool IsAlignedAsFunction(Architecture architecture, ElfAddress address) {
  return address.value % architecture->function_alignment == 0;
}

// A contiguous run of code in the file: an executable section, or a segment if there are no section
// headers. At most 64 per image.
struct CodeRange {
  ElfAddress address;
  std::span<const std::byte> bytes;
  // True for .init and .fini, which are one function each, with symbols that have no size.
  bool is_function = false;

  bool Holds(ElfAddress a) const { return a >= address && a.value - address.value < bytes.size(); }
};

std::vector<CodeRange> CodeOf(const ElfImage& image);

// Returns the range that contains `address`; null if there is none.
const CodeRange* FindRange(const std::vector<CodeRange>& code, ElfAddress address);

// Returns true if `code` at `address` looks like the start of a function: it is aligned, and one of
// its first instructions saves a register or reserves stack space. Decodes at most kLookedAt
// instructions.
inline constexpr size_t kLookedAt = 8;
bool BeginsFunction(Architecture architecture, std::span<const std::byte> code, ElfAddress address);

// Returns the functions in `code` that symbols name, and the ranges that are one function, sorted
// by start. Each start occurs once, with the largest size of its symbols (0: unknown). A size that
// reaches beyond the next start is cut there. Reads at most 2^20 symbols, and fewer if `budget`,
// which may be null, has less left. Cost: about 10 ns per symbol.
std::vector<FunctionExtent> FindNamedFunctions(const ElfImage& image,
                                               const std::vector<CodeRange>& code,
                                               FrameBudget* budget);

// Returns the base of addresses in position-independent i386 code, _GLOBAL_OFFSET_TABLE_; 0 for
// code at a fixed address.
uint64_t GlobalOffsetTable(const ElfImage& image);

// Starts of functions, sorted. Each start occurs once and in only one of the lists.
struct FunctionStarts {
  std::vector<ElfAddress> certain;  // including named functions and the start of each range
  std::vector<ElfAddress> likely;
};

// Finds the starts of functions in the image's code. `offset_table` is the result of
// GlobalOffsetTable. Reads at most 64 MB of code, and less if `budget`, which may be null, has less
// left. Cost: a few ms per MB.
FunctionStarts FindFunctionStarts(Architecture architecture, uint64_t offset_table,
                                  const std::vector<FunctionExtent>& named,
                                  const std::vector<CodeRange>& code, FrameBudget* budget);

}  // namespace profiler::symbolize
