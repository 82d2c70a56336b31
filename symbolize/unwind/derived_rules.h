// Derives unwind rules from instructions, for functions without call frame information: in C
// libraries built without it (musl), in hand-written assembly, and in programs from which it was
// removed.
//
//   symbols ───────────▶ start and end of the function ──▶ its instructions, along every path
//   function_starts.h ─┘                                          │ frame_state.h
//                                                                 ▼
//                                       an UnwindRule (cfi_table.h) for each instruction
//
// All code is scanned for function starts only if an address belongs to no symbol. A large program
// has symbols or call frame information for nearly all its code.
//
// Paths are followed from the function's start. A branch leads both ways. A call leads to the next
// instruction, not into the called function. A call into the function itself leads to a helper,
// which begins like a function. If code is reached only by a jump through a table, it has the same
// frame as the jump. Code that no path reaches, for example a function whose address is in data,
// counts as the start of a function if it is aligned like a function.
//
// Results may be wrong: a function start may be unknown, and a call may never return, with other
// code after it. Callers must check the frame to which such a rule leads.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/address.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_budget.h"
#include "symbolize/unwind/function_starts.h"
#include "symbolize/unwind/registers.h"
#include "symbolize/unwind/rule_rows.h"

namespace profiler::symbolize {

// The derived rules of one image. Not thread-safe, because look-ups decode functions.
class DerivedRules {
 public:
  // Reads the symbols (FindNamedFunctions). The image's bytes and `budget`, which may be null, must
  // outlive this object.
  DerivedRules(Architecture architecture, const ElfImage& image, FrameBudget* budget);
  ~DerivedRules();
  DerivedRules(const DerivedRules&) = delete;

  // Returns the rule at an instruction; kNone if none can be derived. The first look-up in a
  // function decodes at most 2^16 of its instructions, 0.1 µs each, and sets `*compiled`. The first
  // address without a symbol causes a scan of all code (FindFunctionStarts).
  DerivedRule Find(ElfAddress address, bool* compiled);

  // Returns the size of the rules' heap memory in bytes.
  size_t memory_used() const;

 private:
  class Function;
  class Functions;

  const Architecture architecture_;
  FrameBudget* const budget_;  // null: no budget
  const uint64_t offset_table_;
  std::vector<CodeRange> code_;
  std::unique_ptr<Functions> named_;
  std::unique_ptr<Functions> found_;  // functions without a symbol; null: code not scanned yet
};

}  // namespace profiler::symbolize
