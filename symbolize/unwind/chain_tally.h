// Counts how the chains of a recording were found and where they ended.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "src/base/chain_quality.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// Returns why `chain` ends. `copied_short`: fewer bytes of the stack were copied than were asked
// for, because the stack's memory ended, or because a record has no room for more.
constexpr ChainEnd EndOf(const UnwoundChain& chain, bool copied_short) {
  const bool lacks_stack = chain.end == ChainEnd::kStackTooShort;
  return lacks_stack && copied_short ? ChainEnd::kCopiedShort : chain.end;
}

// Not thread-safe. Allocates when a reason is met the first time in an image.
class ChainTally {
 public:
  // A chain as the Unwinder found it, from copied bytes.
  void Count(const UnwoundChain& chain, bool copied_short = false) {
    if (!chain.whole()) return CountCut(EndOf(chain, copied_short), chain.end_image);
    CountWhole(chain.guessed != 0);
  }
  void CountWhole(bool guessed) { ++(guessed ? whole_.guessed : whole_.complete); }
  // A whole chain of a thread that waited, read from its process; it did not run meanwhile.
  void CountLateRead(bool guessed) { ++(guessed ? whole_.guessed : whole_.late_read); }
  // A sample of a thread whose user stack is gone.
  void CountWithoutStack() { ++whole_.no_stack; }
  // `image` has no meaning with kNoImage.
  void CountCut(ChainEnd end, uint32_t image);

  // The most frequent cuts first. `path_of` names an image.
  ChainQuality Quality(absl::FunctionRef<std::string(uint32_t image)> path_of) const;

 private:
  ChainQuality whole_;  // all but the cuts
  std::map<std::pair<ChainEnd, uint32_t>, uint64_t> cuts_;
};

}  // namespace profiler::symbolize
