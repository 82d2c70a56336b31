// The rules of functions without call frame information, derived from their instructions: those of
// C libraries that leave it out (musl), of hand-written assembly, and of programs whose sections
// for it were removed.
//
//   function_starts.h ──▶ start of the function ──▶ its instructions, along every path
//                                                          │ frame_state.h
//                                                          ▼
//                                             a rule for each, as cfi_table.h has them
//
// Paths are followed from the start: behind a branch both ways, behind a call on to the next
// instruction, not to other functions. What only a jump through a table leads to has the frame that
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
  // Looks through all code (FindFunctionStarts). The image's bytes and `budget`, which may be null,
  // must outlive this.
  DerivedRules(const ElfImage& image, FrameBudget* budget);
  ~DerivedRules();
  DerivedRules(const DerivedRules&) = delete;

  // The rule at an instruction; kNone where none was found. Sets `*compiled` if the function was
  // met for the first time: then its instructions are decoded, at most 2^16, each in a tenth of a
  // microsecond.
  UnwindRule Find(ElfAddress address, bool* compiled);

  // Heap memory, in bytes.
  size_t memory_used() const;

 private:
  class Function;
  void Compile(size_t function);

  const Architecture architecture_;
  FrameBudget* const budget_;  // null: none
  uint64_t taken_ = 0;         // of its memory
  std::vector<CodeRange> code_;
  FunctionStarts starts_;
  std::unique_ptr<RuleRows> rows_;  // null: no code, or no room
};

}  // namespace profiler::symbolize
