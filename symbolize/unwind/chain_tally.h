// Counts the call chains of a recording by their quality and by the reasons for which they end.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "symbolize/unwind/chain_quality.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// Returns why `chain` ends. `copied_short` is true if fewer stack bytes were copied than requested,
// because the stack's memory ended or because a record has no room for more.
constexpr ChainEnd EndOf(const UnwoundChain& chain, bool copied_short) {
  const bool lacks_stack = chain.end == ChainEnd::kStackTooShort;
  return lacks_stack && copied_short ? ChainEnd::kCopiedShort : chain.end;
}

// Counts of chains. Not thread-safe. Allocates when a reason occurs for the first time in an image.
class ChainTally {
 public:
  // Counts a chain that the Unwinder found in copied bytes.
  void Count(const UnwoundChain& chain, bool copied_short = false) {
    if (!chain.whole()) return CountCut(EndOf(chain, copied_short), chain.end_image);
    CountWhole(chain.guessed != 0);
  }
  void CountWhole(bool guessed) { ++(guessed ? whole_.guessed : whole_.complete); }
  // Counts a whole chain of a waiting thread whose stack was read from its process after the
  // sample. The thread did not run in between. `guessed`: a frame of the chain is a guess.
  void CountLateRead(bool guessed) { ++(guessed ? whole_.guessed : whole_.late_read); }
  // Counts a sample of a thread whose user stack is gone.
  void CountWithoutStack() { ++whole_.no_stack; }
  // Counts a chain that ends because of `end` in image `image`. `image` is ignored for kNoImage.
  void CountCut(ChainEnd end, uint32_t image);

  // Returns the counts, the most frequent cuts first. `path_of` returns the path of an image.
  ChainQuality Quality(absl::FunctionRef<std::string(uint32_t image)> path_of) const;

 private:
  ChainQuality whole_;  // the counts except those of cut chains
  std::map<std::pair<ChainEnd, uint32_t>, uint64_t> cuts_;
};

}  // namespace profiler::symbolize
