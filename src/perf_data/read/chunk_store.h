// Owned memory for records that are not in a mapped file: what came through a pipe, and what was
// compressed. A chunk lives until all its records have been visited.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace profiler::perf_data {

struct Chunk {
  std::unique_ptr<std::byte[]> data;
  size_t capacity = 0;
  // Where bytes of it come from in the file, ascending by `begin`. Of compressed bytes: the record
  // that they were in, the same for all of them.
  struct Origin {
    size_t begin = 0;  // in `data`
    uint64_t file_offset = 0;
    bool compressed = false;
  };
  std::vector<Origin> origins;
  uint64_t released_in_round = 0;
  bool in_use = true;  // still being filled
};

// Not thread-safe.
class ChunkStore {
 public:
  static constexpr size_t kChunkSize = 1 << 20;

  // The chunk is being filled until Release.
  Chunk* Allocate(size_t capacity = kChunkSize);

  // No further record will be put into it.
  void Release(Chunk* chunk);

  // All records of rounds before this one have been visited: frees the chunks released then.
  void EndRound();

  // All records in released chunks have been visited.
  void FreeReleased() {
    if (released_ != 0) FreeReleasedBefore(UINT64_MAX);
  }

  // The memory that all chunks take.
  uint64_t held_bytes() const { return held_bytes_; }

  // Where in the file the byte at `data` comes from; 0 when it is in no chunk.
  uint64_t FileOffsetOf(const std::byte* data) const;

 private:
  using Chunks = std::map<const std::byte*, std::unique_ptr<Chunk>>;  // by the start of their data
  void FreeReleasedBefore(uint64_t round);

  uint64_t round_ = 0;
  uint64_t held_bytes_ = 0;
  size_t released_ = 0;  // chunks released and not yet freed
  Chunks chunks_;
  std::unique_ptr<Chunk> spare_;  // of kChunkSize
};

}  // namespace profiler::perf_data
