// Decodes and encodes records. The layouts are in record_fields.h.
//
// All functions are thread-safe, because they use only their arguments.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringbuf/raw_record.h"
#include "src/base/status.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/records.h"

namespace profiler::perf_event {

using ringbuf::RawRecord;
using ringbuf::RecordHeader;

// The parts of an attr that decide how its records are laid out, with precomputed offsets for the
// hot path.
struct RecordLayout {
  explicit RecordLayout(const Attr& attr);
  RecordLayout() = default;

  uint64_t sample_type = 0;
  uint64_t read_format = 0;
  uint64_t branch_sample_type = 0;
  uint64_t user_regs_mask = 0;
  uint64_t intr_regs_mask = 0;
  uint32_t user_stack_bytes = 0;  // as requested; a record may have fewer
  bool sample_id_all = false;
  // Byte offsets of fields in samples, from the record's start, header included; -1 if the field is
  // missing.
  int sample_time_offset = -1, sample_id_offset = -1, sample_tid_offset = -1,
      sample_cpu_offset = -1;
  // In all other records: distance of the field from the record's end, in bytes; -1 if the field is
  // missing.
  int trailer_time_offset = -1, trailer_id_offset = -1;
  size_t sample_fixed_size = 0;  // size of a sample's fields before READ, without the header
  size_t trailer_size = 0;       // size of the sample_id; 0 without sample_id_all
};

// Decodes a record of the type that `*out` holds; the caller has checked the type. Returns false if
// the record is too short for its layout; then `*out` has the fields that were read and otherwise
// zeroes. Views in `*out` point into the record. Counts in the record are checked against its size.
// Costs one pass over the fixed fields and no allocation. Defined for every struct of
// PROFILER_RECORD_TYPES (record_types.h).
template <class Record>
bool Decode(RawRecord record, const RecordLayout& layout, Record* out);
bool Decode(RawRecord record, const RecordLayout& layout, Sample* out);

// Appends the whole record: header with `type` and `misc`, and body; computes the size, padded to 8
// bytes. Returns false and appends nothing if the size exceeds kMaxRecordSize. Pads RAW, AUX and
// the user stack with zeroes as the kernel does. Defined for every struct that Decode accepts.
// `record` must not view bytes of `*out`.
template <class Record>
bool Encode(uint32_t type, uint16_t misc, const RecordLayout& layout, const Record& record,
            std::vector<std::byte>* out);

// Return the time or id of any kernel record without decoding it; 0 if the layout has none or the
// record is too short.
uint64_t TimeOf(RawRecord record, const RecordLayout& layout);
uint64_t IdOf(RawRecord record, const RecordLayout& layout);

// Swaps the byte order of a header, in either direction.
RecordHeader SwapHeader(RecordHeader header);

// Converts a kernel record of the other byte order to native order, in place. SwapToNative includes
// the header; SwapBodyToNative expects a header that is native already. `layout` comes from the
// attr in native order. Opaque bytes (RAW, AUX, the user stack, texts, build-ids) do not change.
// Branch flags are also renumbered, see attr_codec.h on bit-fields. Returns false if the record is
// too short for its layout; the fields that it has are converted then. Also returns false if the
// kernel does not write records of this type; the body does not change then.
bool SwapToNative(std::span<std::byte> record, const RecordLayout& layout);
bool SwapBodyToNative(std::span<std::byte> record, const RecordLayout& layout);

// Returns a native view of a kernel record that is stored in the other byte order; `header` is its
// native header. The bytes at `stored` do not change. A sample with opaque bytes has two images:
// the numbers are in `*scratch`, the opaque bytes stay at `stored`. This avoids copying its largest
// part, usually a stack that is often not read. Other records, and records that are too short for
// their layout, are in one piece in `*scratch`. The result views `stored` and `*scratch`, and
// is valid until `*scratch` is used again. A record in two images can be read only with `layout`.
RawRecord TurnToNative(std::span<const std::byte> stored, RecordHeader header,
                       const RecordLayout& layout, std::vector<std::byte>* scratch);

// Returns all bytes of a record that may be in two images.
std::vector<std::byte> CopyInOnePiece(RawRecord record, const RecordLayout& layout);

// Does the reverse of SwapToNative, for tests and for writing a recording in the other byte order.
bool SwapToForeign(std::span<std::byte> record, const RecordLayout& layout);

}  // namespace profiler::perf_event
