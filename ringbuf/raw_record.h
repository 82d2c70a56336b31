// One record as the kernel lays it out in a ring and as perf.data stores it: a header and a body.
//
//   struct perf_event_header { __u32 type; __u16 misc; __u16 size; };   // size counts the header
//   too
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
  uint16_t size = 0;  // of the whole record in bytes, a multiple of 8, at least 8
};
static_assert(sizeof(RecordHeader) == 8);

// A record in native byte order. A view: its bytes are the ring's, the file's or a bounce buffer's,
// and live only as long as whoever handed it out says.
//
// It stands in one piece, or in two images of one size and with fields at the same offsets: of a
// large record in the other byte order only the numbers are turned, and what has no byte order (a
// copied stack, a tracepoint's data) is left where it is.
//
//   numbers()   header │ id │ ip │ … │ (hole)        │ dyn_size
//   opaque()           │    │    │   │ copied stack  │
class RawRecord {
 public:
  // `bytes` holds the whole record: at least 8 bytes, as many as its header's size says.
  explicit RawRecord(std::span<const std::byte> bytes) : numbers_(bytes), opaque_(bytes.data()) {}
  // In two images; as many bytes as `numbers` has are at `opaque`.
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
  // Only of records in one piece.
  std::span<const std::byte> bytes() const {
    assert(in_one_piece());
    return numbers_;
  }
  std::span<const std::byte> body() const { return bytes().subspan(sizeof(RecordHeader)); }

  // The image with the numbers, header first; the bytes of opaque fields mean nothing in it.
  std::span<const std::byte> numbers() const { return numbers_; }
  // The image with the opaque fields; all other bytes mean nothing in it.
  std::span<const std::byte> opaque() const { return {opaque_, numbers_.size()}; }

 private:
  std::span<const std::byte> numbers_;
  const std::byte* opaque_;
};

}  // namespace profiler::ringbuf
