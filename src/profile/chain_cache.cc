#include "src/profile/chain_cache.h"

#include <cstring>

namespace profiler::profile {

bool ChainCache::Equals(const Known& known, const ChainPiece& piece) const {
  return known.generation == piece.generation && known.callers == piece.callers &&
         known.mode == static_cast<uint32_t>(piece.mode) && known.words == piece.entries.size() &&
         std::memcmp(words_.data() + known.first_word, piece.entries.bytes().data(),
                     piece.entries.size() * 8) == 0;
}

void ChainCache::Remember(const ChainPiece& piece) {
  const size_t count = piece.entries.size();
  known_.push_back({.generation = piece.generation,
                    .callers = piece.callers,
                    .stack = kNoStack,
                    .first_word = static_cast<uint32_t>(words_.size()),
                    .words = static_cast<uint32_t>(count),
                    .mode = static_cast<uint32_t>(piece.mode)});
  words_.resize(words_.size() + count);
  std::memcpy(words_.data() + known_.back().first_word, piece.entries.bytes().data(), count * 8);
}

void ChainCache::Clear() {
  index_.Clear();
  known_.clear();
  words_.clear();
}

}  // namespace profiler::profile
