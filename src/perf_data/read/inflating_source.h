// The records inside of COMPRESSED and COMPRESSED2 records.
//
// Their payloads are one zstd stream: a frame may span records, and so may a record inside of it.
//
//   { header │ zstd bytes }           COMPRESSED    (81, size not a multiple of 8)
//   { header │ u64 size │ zstd bytes │ padding }    COMPRESSED2   (83)

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/perf_data/read/byte_source.h"
#include "src/perf_data/read/chunk_store.h"

struct ZSTD_DCtx_s;

namespace profiler::perf_data {

// What Peek shows lives as long as its chunk.
class InflatingSource final : public ByteSource {
 public:
  explicit InflatingSource(ChunkStore* chunks);
  ~InflatingSource() override;

  // The payload that comes next. It must stay until Peek shows less than was asked for.
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
  uint64_t input_offset_ = 0;    // in the file, of the record that input_ is of
  bool output_pending_ = false;  // the decoder holds output for which there was no room
  Chunk* chunk_ = nullptr;
};

}  // namespace profiler::perf_data
