#include "src/profile/chain_cache.h"

#include <cstring>
#include <new>

namespace profiler::profile {

bool ChainCache::Equals(uint32_t word, const ChainPiece& piece) {
  const Known& known = KnownAt(word);
  return known.generation == piece.generation && known.callers == piece.callers &&
         known.mode == static_cast<uint32_t>(piece.mode) && known.size == piece.entries.size() &&
         std::memcmp(&known + 1, piece.entries.bytes().data(), piece.entries.size() * 8) == 0;
}

uint32_t ChainCache::Remember(const ChainPiece& piece, const KnownStack& stack) {
  const size_t at = words_.size(), size = piece.entries.size();
  words_.resize(at + kKnownWords + size);
  new (words_.data() + at) Known{.generation = piece.generation,
                                 .callers = piece.callers,
                                 .size = static_cast<uint32_t>(size),
                                 .mode = static_cast<uint32_t>(piece.mode),
                                 .stack = stack};
  std::memcpy(words_.data() + at + kKnownWords, piece.entries.bytes().data(), size * 8);
  return static_cast<uint32_t>(at);
}

void ChainCache::Clear() {
  index_.Clear();
  words_.clear();
}

}  // namespace profiler::profile
