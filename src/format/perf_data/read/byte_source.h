// Reads the bytes of a recording from a mapped file or a pipe.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/format/perf_data/read/chunk_store.h"

namespace profiler::perf_data {

// A sequence of bytes. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Returns the next bytes: at least `need` of them, or all that are left.
  std::span<const std::byte> Peek(size_t need) {
    if (static_cast<size_t>(end_ - at_) < need) Fill(need);
    return {at_, end_};
  }
  // Returns the bytes that Peek can return without reading more.
  std::span<const std::byte> buffered() const { return {at_, end_}; }
  // Consumes `size` bytes, at most as many as the last call of Peek or buffered returned.
  void Advance(size_t size) {
    at_ += size;
    offset_ += size;
  }
  // Consumes any number of bytes. Returns false if fewer are left.
  virtual bool Skip(uint64_t size) = 0;

  // Returns and consumes the next `size` bytes. Returns and consumes nothing if fewer bytes are
  // left. A source that is not a mapped file also returns nothing if `size` is above 16 MiB,
  // because it would have to hold the bytes in memory.
  virtual std::span<const std::byte> TakePayload(uint64_t size) {
    constexpr uint64_t kMost = 16 << 20;
    if (size > kMost || Peek(size).size() < size) return {};
    const std::span<const std::byte> bytes(at_, size);
    Advance(size);
    return bytes;
  }

  // Returns the offset in the file of the first byte that Peek returns.
  uint64_t offset() const { return offset_; }

  // Returns the offset of the end of a mapped file's part; 0 if the end is unknown.
  virtual uint64_t end() const { return 0; }

  // Returns the error that stopped the reading; OK at the end.
  const absl::Status& status() const { return status_; }

 protected:
  explicit ByteSource(uint64_t offset) : offset_(offset) {}

  // Makes [at_, end_) at least `need` bytes long, if possible.
  virtual void Fill(size_t need) = 0;

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  uint64_t offset_ = 0;
  absl::Status status_;
};

// The part [begin, end) of a mapped file. Bytes from Peek live as long as the mapping. Pages are
// read by one system call per window, which costs a fraction of one page fault per page.
class MappedSource final : public ByteSource {
 public:
  MappedSource(std::span<const std::byte> file, uint64_t begin, uint64_t end);

  bool Skip(uint64_t size) override;
  uint64_t end() const override { return offset_ + static_cast<uint64_t>(limit_ - at_); }
  // Reads no page, because a trace may take gigabytes and most readers skip it.
  std::span<const std::byte> TakePayload(uint64_t size) override;

 private:
  void Fill(size_t need) override;

  const std::byte* const limit_;
  size_t window_;  // size of the next window in bytes
};

// The bytes of a file descriptor that cannot be mapped. Bytes from Peek live as long as their
// chunk.
class StreamSource final : public ByteSource {
 public:
  // Owns neither `fd` nor `chunks`. `offset`: number of bytes of the stream that were read before.
  // `name` is for messages.
  StreamSource(int fd, uint64_t offset, ChunkStore* chunks, std::string name)
      : ByteSource(offset), fd_(fd), chunks_(chunks), name_(std::move(name)) {}

  bool Skip(uint64_t size) override;

 private:
  // Calls read(2). Returns false at the end and on an error.
  bool ReadInto(std::byte* data, size_t size, size_t* count);

  void Fill(size_t need) override;

  int fd_;
  ChunkStore* chunks_;
  std::string name_;
  Chunk* chunk_ = nullptr;
};

}  // namespace profiler::perf_data
