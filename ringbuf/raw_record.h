// One record as the kernel lays it out in a ring and as perf.data stores it: a header and a body.
//
//   struct perf_event_header { __u32 type; __u16 misc; __u16 size; };   // size counts the header
//   too
//
// Source: include/uapi/linux/perf_event.h, Linux 6.18.

#pragma once

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

// A whole, contiguous record in native byte order. A view: its bytes are the ring's, the file's or
// a bounce buffer's, and live only as long as whoever handed it out says.
class RawRecord {
 public:
  // `bytes` holds the whole record: at least 8 bytes, as many as its header's size says.
  explicit RawRecord(std::span<const std::byte> bytes) : bytes_(bytes) {}

  RecordHeader header() const {
    RecordHeader header;
    std::memcpy(&header, bytes_.data(), sizeof(header));
    return header;
  }
  uint32_t type() const { return header().type; }
  uint16_t misc() const { return header().misc; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const std::byte> body() const { return bytes_.subspan(sizeof(RecordHeader)); }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace profiler::ringbuf
