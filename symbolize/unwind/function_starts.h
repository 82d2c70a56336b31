// Where functions start in code that says nothing of them: what symbols name, what other code
// calls, and whose address it takes.
//
//   x86-64                                  AArch64
//   e8 rel32             call f             bl f
//   48 8d ModRM rel32    lea r, [f]         adrp r, page; add r, r, #place, or adr r, f
//
//   i386
//   e8 rel32                                call f
//   8d ModRM disp32                         lea r, [b + f − GOT], where b has the GOT's address
//   68 imm32, b8 … bf imm32, c7 … imm32     push f, mov r, f, or mov [m], f: not in code that may
//                                           lie anywhere
//
// On x86 they are searched byte by byte, as decoding all code takes too long, so some that are
// found are none: half of an instruction may look like a call; on AArch64 data may. What is found
// is certain if it is called from two places, or is aligned and looks like the start of a function.
// An address that is taken within the function where it is is a label's, to which a computed jump
// goes, and is left out.
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

// In bytes, by compilers' defaults for x86. For AArch64 some functions are aligned as little as
// instructions are.
inline constexpr uint64_t kFunctionAlignment = 16;
constexpr bool IsAlignedAsFunction(Architecture architecture, ElfAddress address) {
  return address.value % (architecture == Architecture::kAArch64 ? 4 : kFunctionAlignment) == 0;
}

// A run of code that lies in the file in one piece: an executable section, or a segment where there
// are no section headers. At most 64 of them.
struct CodeRange {
  ElfAddress address;
  std::span<const std::byte> bytes;
  bool is_function = false;  // one: .init, .fini, whose symbols do not say how long they are

  bool Holds(ElfAddress a) const { return a >= address && a.value - address.value < bytes.size(); }
};

std::vector<CodeRange> CodeOf(const ElfImage& image);

// Null where none of them holds it.
const CodeRange* FindRange(const std::vector<CodeRange>& code, ElfAddress address);

// Whether there is, in code at `address`, what looks like the start of a function: it is aligned,
// and saves a register or makes room on the stack before it does much else. Decodes at most
// kLookedAt instructions.
inline constexpr size_t kLookedAt = 8;
bool BeginsFunction(Architecture architecture, std::span<const std::byte> code, ElfAddress address);

// What symbols name in `code`, and ranges that are one function, in the order of addresses, each
// once, with the largest of its sizes, which is 0 where none says it, but only as far as to the
// next one. Reads at most 2^20 symbols, and no more than `budget` has left, where that is not null.
// Cost: some ten nanoseconds a symbol.
std::vector<FunctionExtent> FindNamedFunctions(const ElfImage& image,
                                               const std::vector<CodeRange>& code,
                                               FrameBudget* budget);

// What addresses of i386 in code that may lie anywhere are relative to, _GLOBAL_OFFSET_TABLE_; 0
// for code that has its place.
uint64_t GlobalOffsetTable(const ElfImage& image);

// Each in their order, each once, and none in both.
struct FunctionStarts {
  std::vector<ElfAddress> certain;  // with those that have names, and the start of each range
  std::vector<ElfAddress> likely;
};

// `offset_table`: GlobalOffsetTable. Reads at most 64 MB of code, and no more than `budget` has
// left, where that is not null. Cost: a few milliseconds a megabyte.
FunctionStarts FindFunctionStarts(Architecture architecture, uint64_t offset_table,
                                  const std::vector<FunctionExtent>& named,
                                  const std::vector<CodeRange>& code, FrameBudget* budget);

}  // namespace profiler::symbolize
