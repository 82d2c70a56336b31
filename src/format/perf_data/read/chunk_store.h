// Owns the memory of records that are not in a mapped file: from a pipe, or decompressed. A chunk
// lives until all its records have been visited.

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
  // The file offset of the chunk's bytes from index `begin` on, up to the next Origin. All bytes
  // from a compressed record have the offset of that record.
  struct Origin {
    size_t begin = 0;  // index into `data`
    uint64_t file_offset = 0;
    bool compressed = false;
  };
  std::vector<Origin> origins;
  uint64_t released_in_round = 0;
  bool in_use = true;  // true while it is being filled
};

// The chunks of one recording. Not thread-safe.
class ChunkStore {
 public:
  static constexpr size_t kChunkSize = 1 << 20;

  // Returns a chunk to fill; it is in use until Release.
  Chunk* Allocate(size_t capacity = kChunkSize);

  // Ends the filling of a chunk.
  void Release(Chunk* chunk);

  // Ends a round. Frees the chunks that were released in earlier rounds, because all records in
  // these chunks have been visited.
  void EndRound();

  // Frees all released chunks. Call it only when all records have been visited.
  void FreeReleased() {
    if (released_ != 0) FreeReleasedBefore(UINT64_MAX);
  }

  // Returns the size of all chunks in memory, in bytes.
  uint64_t held_bytes() const { return held_bytes_; }

  // Returns the file offset of the byte at `data`; 0 if it is in no chunk.
  uint64_t FileOffsetOf(const std::byte* data) const;

 private:
  // Keyed by the start of the chunk's data.
  using Chunks = std::map<const std::byte*, std::unique_ptr<Chunk>>;
  void FreeReleasedBefore(uint64_t round);

  uint64_t round_ = 0;
  uint64_t held_bytes_ = 0;
  size_t released_ = 0;  // chunks released and not yet freed
  Chunks chunks_;
  std::unique_ptr<Chunk> spare_;  // a freed chunk of kChunkSize, for reuse
};

}  // namespace profiler::perf_data
