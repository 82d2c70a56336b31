// Decodes and encodes records. Layouts are in record_fields.h, written once each.
//
// Everything here is thread-safe: it works on its arguments alone.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  uint32_t user_stack_bytes = 0;  // asked for; a record may have less
  bool sample_id_all = false;
  // Byte offsets of fields in samples, from the record's start, header included; -1 where there is
  // none.
  int sample_time_offset = -1, sample_id_offset = -1, sample_tid_offset = -1,
      sample_cpu_offset = -1;
  // All other records: the field begins that many bytes before the record's end; -1 where there is
  // none.
  int trailer_time_offset = -1, trailer_id_offset = -1;
  size_t sample_fixed_size = 0;  // of a sample's fields up to READ, without the header
  size_t trailer_size = 0;       // of the sample_id; 0 without sample_id_all
};

// False when the record is too short for its layout; `*out` then holds what was read, and zeroes.
// Views in `*out` point into the record. The caller has looked at the record's type. Costs one pass
// over the fixed fields and no allocation. Counts that the record states are checked against its
// size.
bool Decode(RawRecord record, const RecordLayout& layout, Mmap* out);
bool Decode(RawRecord record, const RecordLayout& layout, Lost* out);
bool Decode(RawRecord record, const RecordLayout& layout, Comm* out);
bool Decode(RawRecord record, const RecordLayout& layout, Task* out);
bool Decode(RawRecord record, const RecordLayout& layout, Throttle* out);
bool Decode(RawRecord record, const RecordLayout& layout, Read* out);
bool Decode(RawRecord record, const RecordLayout& layout, Sample* out);
bool Decode(RawRecord record, const RecordLayout& layout, Mmap2* out);
bool Decode(RawRecord record, const RecordLayout& layout, Aux* out);
bool Decode(RawRecord record, const RecordLayout& layout, ItraceStart* out);
bool Decode(RawRecord record, const RecordLayout& layout, LostSamples* out);
bool Decode(RawRecord record, const RecordLayout& layout, Switch* out);
bool Decode(RawRecord record, const RecordLayout& layout, SwitchCpuWide* out);
bool Decode(RawRecord record, const RecordLayout& layout, Namespaces* out);
bool Decode(RawRecord record, const RecordLayout& layout, Ksymbol* out);
bool Decode(RawRecord record, const RecordLayout& layout, BpfEvent* out);
bool Decode(RawRecord record, const RecordLayout& layout, Cgroup* out);
bool Decode(RawRecord record, const RecordLayout& layout, TextPoke* out);
bool Decode(RawRecord record, const RecordLayout& layout, AuxOutputHwId* out);
bool Decode(RawRecord record, const RecordLayout& layout, CallchainDeferred* out);

// Appends the whole record (header included; type and misc as given; size computed, padded to 8
// bytes). False, and nothing appended, when it would be over kMaxRecordSize bytes. RAW, AUX and the
// user stack are padded with zeroes to what the kernel would write. Defined for every struct that
// Decode knows. `record` must not view bytes of `*out`.
template <class Record>
bool Encode(uint32_t type, uint16_t misc, const RecordLayout& layout, const Record& record,
            std::vector<std::byte>* out);

// The time or id of any kernel record, without decoding it; 0 where the layout or a short record
// has none.
uint64_t TimeOf(RawRecord record, const RecordLayout& layout);
uint64_t IdOf(RawRecord record, const RecordLayout& layout);

// The header of a record in the other byte order, or back.
RecordHeader SwapHeader(RecordHeader header);

// Turns a whole kernel record of the other byte order into native order, in place, header included
// (or only its body, when the caller has turned the header already). `layout` comes from the attr
// in native order. Opaque bytes (RAW, AUX, the user stack, texts, build-ids) stay as they are;
// branch flags are also renumbered, see attr_codec.h on bit-fields. False for a record that is too
// short for its layout, of which the fields that are there are turned, and for types that the
// kernel does not write, whose body is left alone.
bool SwapToNative(std::span<std::byte> record, const RecordLayout& layout);
bool SwapBodyToNative(std::span<std::byte> record, const RecordLayout& layout);

// A whole kernel record of the other byte order, at `stored`, as a native one; `header` is its
// header, already turned. The bytes at `stored` stay as they are. Samples with opaque bytes come in
// two images, as most of such a record is usually a copied stack that nobody may look at: their
// numbers in `*scratch`, the opaque bytes at `stored`. All others, also those that are too short
// for their layout, come in one piece in `*scratch`. The result views both, until `*scratch` is
// used again. Only `layout` reads a record in two images.
RawRecord TurnToNative(std::span<const std::byte> stored, RecordHeader header,
                       const RecordLayout& layout, std::vector<std::byte>* scratch);

// All bytes of a record that may be in two images.
std::vector<std::byte> CopyInOnePiece(RawRecord record, const RecordLayout& layout);

// The inverse of SwapToNative, for tests and for writing a recording in the other byte order.
bool SwapToForeign(std::span<std::byte> record, const RecordLayout& layout);

}  // namespace profiler::perf_event
