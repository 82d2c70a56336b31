#include "src/profile/chain_cache.h"

#include <cassert>
#include <cstring>
#include <new>

namespace profiler::profile {

bool ChainCache::Equals(uint32_t word, const RawChain& chain) {
  const Known& known = KnownAt(word);
  return known.process_generation == chain.process_generation &&
         known.kernel_generation == chain.kernel_generation &&
         known.mode == static_cast<uint32_t>(chain.mode) && known.size == chain.entries.size() &&
         std::memcmp(&known + 1, chain.entries.bytes().data(), chain.entries.size() * 8) == 0;
}

uint32_t ChainCache::Remember(const RawChain& chain, const KnownStack& stack) {
  const size_t at = words_.size(), size = chain.entries.size();
  assert(at + kKnownWords + size <= words_.capacity());
  words_.resize(at + kKnownWords + size);
  new (words_.data() + at) Known{.process_generation = chain.process_generation,
                                 .kernel_generation = chain.kernel_generation,
                                 .stack = stack,
                                 .size = static_cast<uint32_t>(size),
                                 .mode = static_cast<uint32_t>(chain.mode)};
  std::memcpy(words_.data() + at + kKnownWords, chain.entries.bytes().data(), size * 8);
  return static_cast<uint32_t>(at);
}

void ChainCache::Clear() {
  index_.Clear();
  words_.clear();
}

}  // namespace profiler::profile
