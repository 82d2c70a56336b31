// A view of one record as the kernel lays it out in a ring and as perf.data stores it: a header and
// a body.
//
//   struct perf_event_header { __u32 type; __u16 misc; __u16 size; };   // size includes the header
//
// Source: include/uapi/linux/perf_event.h, Linux 6.18.

#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace profiler::ringbuf {

struct RecordHeader {
  uint32_t type = 0;  // PERF_RECORD_*
  uint16_t misc = 0;  // PERF_RECORD_MISC_*
  uint16_t size = 0;  // size of the whole record in bytes, a multiple of 8, at least 8
};
static_assert(sizeof(RecordHeader) == 8);

// A view of a record in native byte order. Its bytes belong to the ring, the file or a bounce
// buffer; the function that returned the record says how long they live.
//
// The record is in one piece, or in two images of the same size, with each field at the same offset
// in both. Two images are used for a large record in the other byte order: only its numbers are
// byte-swapped into a second image. Fields without byte order (a copied stack, a tracepoint's data)
// stay in the first.
//
//   numbers()   header │ id │ ip │ … │ (hole)        │ dyn_size
//   opaque()           │    │    │   │ copied stack  │
class RawRecord {
 public:
  // `bytes` is the whole record: at least 8 bytes, and exactly the size in its header.
  explicit RawRecord(std::span<const std::byte> bytes) : numbers_(bytes), opaque_(bytes.data()) {}
  // A record in two images; `opaque` points to as many bytes as `numbers` has.
  RawRecord(std::span<const std::byte> numbers, const std::byte* opaque)
      : numbers_(numbers), opaque_(opaque) {}

  RecordHeader header() const {
    RecordHeader header;
    std::memcpy(&header, numbers_.data(), sizeof(header));
    return header;
  }
  uint32_t type() const { return header().type; }
  uint16_t misc() const { return header().misc; }
  size_t size() const { return numbers_.size(); }  // in bytes, header included

  bool in_one_piece() const { return opaque_ == numbers_.data(); }
  // Returns the whole record, which must be in one piece.
  std::span<const std::byte> bytes() const {
    assert(in_one_piece());
    return numbers_;
  }
  std::span<const std::byte> body() const { return bytes().subspan(sizeof(RecordHeader)); }

  // Returns the image with the numbers, header first. Its bytes in opaque fields are meaningless.
  std::span<const std::byte> numbers() const { return numbers_; }
  // Returns the image with the opaque fields. Its other bytes are meaningless.
  std::span<const std::byte> opaque() const { return {opaque_, numbers_.size()}; }

 private:
  std::span<const std::byte> numbers_;
  const std::byte* opaque_;
};

}  // namespace profiler::ringbuf
