// Looks up the full rules of call frame information (frame_rules.h) for the frames of one chain.
//
// Private to this package.

#pragma once

#include <cstdint>

#include "src/base/address.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/frame_rules.h"

namespace profiler::symbolize {

// The result is large, so it is a member and is overwritten by each look-up.
class FullRuleLookup {
 public:
  // `chain` is the number of the chain (CfiTable::StartChain).
  explicit FullRuleLookup(uint64_t chain) : chain_(chain) {}

  // Sets rules() if it returns kRules.
  [[gnu::noinline]] CfiTable::Told Find(CfiTable& table, ElfAddress address) {
    table.StartChain(chain_);
    return table.FullRules(address, &rules_);
  }
  const FrameRules& rules() const { return rules_; }

 private:
  const uint64_t chain_;
  FrameRules rules_;
};

}  // namespace profiler::symbolize
