// The rules of functions without call frame information, derived from their instructions: those of
// C libraries that leave it out (musl), of hand-written assembly, and of programs whose sections
// for it were removed.
//
//   symbols ───────────▶ start and end of the function ──▶ its instructions, along every path
//   function_starts.h ─┘                                          │ frame_state.h
//                                                                 ▼
//                                                    a rule for each, as cfi_table.h has them
//
// All code is searched for starts only when an address is asked for that no symbol says the
// function of: a big program has symbols, or call frame information, of all but little of its code.
//
// Paths are followed from the start: behind a branch both ways, behind a call on to the next
// instruction, not to other functions. A call into the function itself leads to a helper, which
// begins like a function. What only a jump through a table leads to has the frame that
// the jump had. What no path leads to, such as a function whose address stands in data, is taken
// for the start of a function where it is aligned like one.
//
// All this may err: a function's start may be one that nothing tells of, and a call may be one that
// does not return, before other code. So whoever uses such a rule looks at what it leads to.
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

// Of one image. Not thread-safe: look-ups compile.
class DerivedRules {
 public:
  // Reads the symbols (FindNamedFunctions). The image's bytes and `budget`, which may be null,
  // must outlive this.
  DerivedRules(const ElfImage& image, FrameBudget* budget);
  ~DerivedRules();
  DerivedRules(const DerivedRules&) = delete;

  // The rule at an instruction; kNone where none was found. Sets `*compiled` if the function was
  // met for the first time: then its instructions are decoded, at most 2^16, each in a tenth of a
  // microsecond. The first time that no symbol has the address, all code is looked through
  // (FindFunctionStarts).
  DerivedRule Find(ElfAddress address, bool* compiled);

  // Heap memory, in bytes.
  size_t memory_used() const;

 private:
  class Function;
  class Functions;

  const Architecture architecture_;
  FrameBudget* const budget_;  // null: none
  const uint64_t offset_table_;
  std::vector<CodeRange> code_;
  std::unique_ptr<Functions> named_;
  std::unique_ptr<Functions> found_;  // null: the code was not looked through yet
};

}  // namespace profiler::symbolize
