// Where the bytes of a recording come from: a mapped file, or a pipe.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/perf_data/read/chunk_store.h"

namespace profiler::perf_data {

// Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The bytes that come next: at least `need` of them while there are so many, all there are at the
  // end.
  std::span<const std::byte> Peek(size_t need) {
    if (static_cast<size_t>(end_ - at_) < need) Fill(need);
    return {at_, end_};
  }
  // What Peek shows without having to get more.
  std::span<const std::byte> buffered() const { return {at_, end_}; }
  // `size`: at most what the last of these two showed.
  void Advance(size_t size) {
    at_ += size;
    offset_ += size;
  }
  // Passes over any number of bytes; false when there are fewer.
  virtual bool Skip(uint64_t size) = 0;

  // Returns the next `size` bytes and passes over them. Empty, and nothing is passed over, if there
  // are fewer, or if they would take too much memory before it is known that they are there.
  virtual std::span<const std::byte> TakePayload(uint64_t size) {
    constexpr uint64_t kMost = 16 << 20;
    if (size > kMost || Peek(size).size() < size) return {};
    const std::span<const std::byte> bytes(at_, size);
    Advance(size);
    return bytes;
  }

  // In the file, of what Peek shows first.
  uint64_t offset() const { return offset_; }

  // What stopped the reading, if it was not the end.
  const absl::Status& status() const { return status_; }

 protected:
  explicit ByteSource(uint64_t offset) : offset_(offset) {}

  // Makes [at_, end_) as long as `need` when it can.
  virtual void Fill(size_t need) = 0;

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  uint64_t offset_ = 0;
  absl::Status status_;
};

// [begin, end) of a mapped file. What Peek shows lives as long as the mapping. Pages are brought in
// by one system call a window, which costs a fraction of a fault a page.
class MappedSource final : public ByteSource {
 public:
  MappedSource(std::span<const std::byte> file, uint64_t begin, uint64_t end);

  bool Skip(uint64_t size) override;
  // Brings no page in: a trace may take gigabytes, and most readers pass over it.
  std::span<const std::byte> TakePayload(uint64_t size) override;

 private:
  void Fill(size_t need) override;

  const std::byte* const limit_;
};

// A file descriptor that cannot be mapped. What Peek shows lives as long as its chunk.
class StreamSource final : public ByteSource {
 public:
  // Neither is owned. `offset`: how much of the stream has been read already. `name`: for messages.
  StreamSource(int fd, uint64_t offset, ChunkStore* chunks, std::string name)
      : ByteSource(offset), fd_(fd), chunks_(chunks), name_(std::move(name)) {}

  bool Skip(uint64_t size) override;

 private:
  // read(2); false at the end and on an error.
  bool ReadInto(std::byte* data, size_t size, size_t* count);

  void Fill(size_t need) override;

  int fd_;
  ChunkStore* chunks_;
  std::string name_;
  Chunk* chunk_ = nullptr;
};

}  // namespace profiler::perf_data
