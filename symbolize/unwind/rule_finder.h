// Finds the simple rule (UnwindRule) of a frame, and replaces rules that are wrong for it.
//
// Private to this package.

#pragma once

#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/code_space.h"
#include "symbolize/unwind/rule_cache.h"

namespace profiler::symbolize {

class RuleFinder {
 public:
  // Both must outlive this object.
  RuleFinder(RuleCache& cache, const CodeSpace& space) : cache_(cache), space_(space) {}

  // Returns the rule at `address` in the image `mapped`, which has a table. For a return address,
  // `address` is the one before it. If the return address follows no call, the rule has
  // `not_called` and is the rule at the return address itself.
  UnwindRule Find(const MappedCode& mapped, ElfAddress address, bool is_return_address) {
    const auto key = RuleCache::KeyOf(mapped.cfi->id(), address, is_return_address);
    if (!key) [[unlikely]]
      return LookUp(mapped, address, is_return_address);
    if (const UnwindRule* const rule = cache_.Find(*key)) [[likely]]
      return *rule;
    const UnwindRule rule = LookUp(mapped, address, is_return_address);
    cache_.Add(*key, rule);
    return rule;
  }

 private:
  [[gnu::noinline]] UnwindRule LookUp(const MappedCode& mapped, ElfAddress address,
                                      bool is_return_address) const;

  RuleCache& cache_;
  const CodeSpace& space_;
};

// Corrects the rule `told` of an interrupted function with a link register at `pc`. The rule is the one
// at `address` in the image `mapped`. Some call frame information is made only for exceptions (rustc) and is valid
// only at calls. In such information, the rule of a function's start covers the whole prologue, and
// the rule before the epilogue also covers the return.
UnwindRule MendInterruptedRule(const UnwindRule& told, RuntimeAddress pc, const MappedCode& mapped,
                               ElfAddress address, const CodeSpace& space);

}  // namespace profiler::symbolize
