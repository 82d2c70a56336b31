// Decodes and encodes records. Layouts are in record_fields.h, written once each.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringbuf/raw_record.h"
#include "src/base/status.h"
#include "src/perf_event/attr.h"
#include "src/perf_event/records.h"

namespace profiler::perf_event {

using ringbuf::RawRecord;
using ringbuf::RecordHeader;

// What of an attr decides how records are laid out, compiled once so that the hot path only
// indexes.
struct RecordLayout {
  explicit RecordLayout(const Attr& attr);
  RecordLayout() = default;

  uint64_t sample_type = 0;
  uint64_t read_format = 0;
  uint64_t branch_sample_type = 0;
  uint64_t user_regs_mask = 0;
  uint64_t intr_regs_mask = 0;
  bool sample_id_all = false;
  // Byte offsets from the record's start (samples) and from its end (all others); -1 where there is
  // none.
  int sample_time_offset = -1, sample_id_offset = -1, sample_tid_offset = -1,
      sample_cpu_offset = -1;
  int trailer_time_offset = -1, trailer_id_offset = -1;
  size_t trailer_size = 0;
};

// False when the record is too short for its layout; `*out` then holds what was read. Costs one
// pass over the fixed fields and no allocation.
bool Decode(RawRecord record, const RecordLayout& layout, Sample* out);
bool Decode(RawRecord record, const RecordLayout& layout, Mmap* out);
bool Decode(RawRecord record, const RecordLayout& layout, Mmap2* out);
bool Decode(RawRecord record, const RecordLayout& layout, Comm* out);
bool Decode(RawRecord record, const RecordLayout& layout, Task* out);
bool Decode(RawRecord record, const RecordLayout& layout, Lost* out);
bool Decode(RawRecord record, const RecordLayout& layout, LostSamples* out);
bool Decode(RawRecord record, const RecordLayout& layout, Throttle* out);
bool Decode(RawRecord record, const RecordLayout& layout, Ksymbol* out);
// … one overload a record.

// Appends the whole record (header included; type and misc as given; size computed, padded to 8
// bytes). False, and nothing appended, when it would be over 65 535 bytes.
template <class Record>
bool Encode(uint32_t type, uint16_t misc, const RecordLayout& layout, const Record& record,
            std::vector<std::byte>* out);

// The time or id of any kernel record, without decoding it; 0 where the layout has none.
uint64_t TimeOf(RawRecord record, const RecordLayout& layout);
uint64_t IdOf(RawRecord record, const RecordLayout& layout);

}  // namespace profiler::perf_event
