// Decompresses the records inside COMPRESSED and COMPRESSED2 records.
//
// The payloads of these records form one zstd stream. A zstd frame may span several payloads, and
// so may a record inside the stream.
//
//   { header │ zstd bytes }           COMPRESSED    (81, size not a multiple of 8)
//   { header │ u64 size │ zstd bytes │ padding }    COMPRESSED2   (83)

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/format/perf_data/read/byte_source.h"
#include "src/format/perf_data/read/chunk_store.h"

struct ZSTD_DCtx_s;

namespace profiler::perf_data {

// A source of the decompressed bytes. Bytes from Peek live as long as their chunk.
class InflatingSource final : public ByteSource {
 public:
  explicit InflatingSource(ChunkStore* chunks);
  ~InflatingSource() override;

  // Sets the next payload. It must stay valid until Peek returns less than was requested.
  void Feed(std::span<const std::byte> compressed, uint64_t file_offset);

  bool Skip(uint64_t size) override;

 private:
  void Fill(size_t need) override;
  void StartChunk();
  void NoteOrigin();

  struct Deleter {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  ChunkStore* chunks_;
  std::unique_ptr<ZSTD_DCtx_s, Deleter> context_;
  std::span<const std::byte> input_;
  uint64_t input_offset_ = 0;    // file offset of the record that contains input_
  bool output_pending_ = false;  // true if the decoder has output that did not fit
  Chunk* chunk_ = nullptr;
};

}  // namespace profiler::perf_data
