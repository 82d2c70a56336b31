#include "src/format/perf_data/read/chunk_store.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace profiler::perf_data {

Chunk* ChunkStore::Allocate(size_t capacity) {
  std::unique_ptr<Chunk> chunk;
  if (spare_ != nullptr && capacity <= kChunkSize) {
    chunk = std::move(spare_);
    chunk->origins.clear();
    chunk->in_use = true;
  } else {
    chunk = std::make_unique<Chunk>();
    chunk->capacity = std::max(capacity, kChunkSize);
    chunk->data.reset(new std::byte[chunk->capacity]);
  }
  held_bytes_ += chunk->capacity;
  Chunk* const result = chunk.get();
  chunks_[result->data.get()] = std::move(chunk);
  return result;
}

void ChunkStore::Release(Chunk* chunk) {
  chunk->in_use = false;
  chunk->released_in_round = round_;
  ++released_;
}

void ChunkStore::EndRound() {
  if (released_ != 0) FreeReleasedBefore(round_);
  ++round_;
}

void ChunkStore::FreeReleasedBefore(uint64_t round) {
  for (auto it = chunks_.begin(); it != chunks_.end();) {
    Chunk& chunk = *it->second;
    if (chunk.in_use || chunk.released_in_round >= round) {
      ++it;
      continue;
    }
    --released_;
    held_bytes_ -= chunk.capacity;
    if (spare_ == nullptr && chunk.capacity == kChunkSize) spare_ = std::move(it->second);
    it = chunks_.erase(it);
  }
}

uint64_t ChunkStore::FileOffsetOf(const std::byte* data) const {
  auto it = chunks_.upper_bound(data);
  if (it == chunks_.begin()) return 0;
  const Chunk& chunk = *std::prev(it)->second;
  const size_t at = data - chunk.data.get();
  if (at >= chunk.capacity) return 0;
  auto origin = std::upper_bound(chunk.origins.begin(), chunk.origins.end(), at,
                                 [](size_t a, const Chunk::Origin& b) { return a < b.begin; });
  if (origin == chunk.origins.begin()) return 0;
  --origin;
  return origin->compressed ? origin->file_offset : origin->file_offset + (at - origin->begin);
}

}  // namespace profiler::perf_data
