// Iterates over whole records in a ring's bytes.
//
//   spans[0]                       spans[1]
//   … | record | record | rec      ord | record | …
//                         └─ straddles the ring's end: copied into the bounce buffer
//
// All other records are views into the ring and are not copied. No record allocates.

#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "ringbuf/raw_record.h"
#include "ringbuf/ring_view.h"

namespace profiler::ringbuf {

// A buffer for the largest record that a header's 16-bit size can name. One buffer serves all rings
// in turn.
struct BounceBuffer {
  alignas(8) std::array<std::byte, 1 << 16> bytes;
};

// A cursor for one thread. `bounce` must outlive it.
class RecordCursor {
 public:
  RecordCursor(const RingBytes& bytes, BounceBuffer& bounce)
      : rest_(bytes), size_(bytes.size()), bounce_(&bounce) {}

  // Returns the next whole record, or nullopt at the end and at bytes that are not a record (see
  // status). The record lives until the next call, or until the ring's bytes are consumed.
  std::optional<RawRecord> Next() {
    std::span<const std::byte>& front = rest_.spans[0];
    if (front.size() >= sizeof(RecordHeader)) {
      RecordHeader header;
      std::memcpy(&header, front.data(), sizeof(header));
      if (header.size >= sizeof(RecordHeader) && header.size <= front.size()) {
        const RawRecord record(front.first(header.size));
        front = front.subspan(header.size);
        return record;
      }
    }
    return NextAtSeam();
  }

  // kDataLoss, permanently, if a record's size is less than 8 bytes or reaches past the end of the
  // bytes; the message names the position. OK otherwise.
  const absl::Status& status() const { return status_; }
  // Returns the offset of the next record: the number of bytes of all records returned so far.
  size_t offset() const { return size_ - rest_.size(); }

 private:
  // Does the part of Next that is rarely needed: the end of the first span, a record across both
  // spans, and bytes that are no record.
  std::optional<RawRecord> NextAtSeam();
  void CopyFront(std::span<std::byte> out) const;

  RingBytes rest_;
  size_t size_;
  BounceBuffer* bounce_;
  absl::Status status_;
};

}  // namespace profiler::ringbuf
