#include "src/format/perf_event/codec.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "src/format/perf_event/record_fields.h"
#include "src/format/perf_event/record_io.h"
#include "src/format/perf_event/record_types.h"
#include "src/format/perf_event/sample_fields.h"

namespace profiler::perf_event {
namespace {

constexpr int kHeaderSize = sizeof(RecordHeader);

// Returns the offset of `field` of `sample` in a SAMPLE record. Only fields of fixed size may
// precede it.
int SampleOffset(const RecordLayout& layout, const Sample& sample, const void* field) {
  FieldLocator locator(field);
  SampleFields(locator, layout, sample);
  return locator.offset() < 0 ? -1 : kHeaderSize + locator.offset();
}

// Returns the distance of `field` of `id` from the record's end, in bytes.
int TrailerOffset(const RecordLayout& layout, const SampleId& id, const void* field) {
  FieldLocator locator(field);
  SampleIdFields(locator, layout, id);
  return locator.offset() < 0 ? -1 : static_cast<int>(locator.size()) - locator.offset();
}

// Sets memory to 0. `*out = {}` is slower: GCC makes a string instruction of it, because the size
// is known and large, and starting that instruction costs as much as the rest of Decode. noipa
// hides the size, so memset is called.
[[gnu::noipa]] void Zero(void* at, size_t size) { std::memset(at, 0, size); }

void Clear(Sample* sample) {
  static_assert(std::is_trivially_copyable_v<Sample>);
  Zero(sample, sizeof(*sample));
}

uint64_t WordAt(RawRecord record, size_t offset) {
  const std::span<const std::byte> bytes = record.numbers();
  if (offset > bytes.size() || bytes.size() - offset < 8) return 0;
  uint64_t word;
  std::memcpy(&word, bytes.data() + offset, 8);
  return word;
}

// Returns a field of any kernel record, which samples have at their start and other records at
// their end.
uint64_t FieldOf(RawRecord record, int sample_offset, int trailer_offset) {
  if (record.type() == kRecordSample) {
    return sample_offset < 0 ? 0 : WordAt(record, sample_offset);
  }
  if (trailer_offset < 0 || record.type() >= kRecordUserFirst) return 0;
  const size_t size = record.size();
  const size_t from_end = trailer_offset;
  return size < kHeaderSize + from_end ? 0 : WordAt(record, size - from_end);
}

// True if branch stacks may lack hw_idx: a PMU that gave no branches at all writes nr = 0 without
// hw_idx. Only the record's length tells the two forms apart, so such samples are read both ways.
bool MayLackHwIndex(const RecordLayout& layout) {
  return (layout.branch_sample_type & kBranchHwIndex) != 0 &&
         (layout.sample_type & kSampleBranchStack) != 0;
}

RecordLayout WithoutHwIndex(const RecordLayout& layout) {
  RecordLayout without = layout;
  without.branch_sample_type &= ~kBranchHwIndex;
  return without;
}

// Tries to read a sample with and without hw_idx. Swaps no bytes. Returns true if hw_idx is
// missing.
template <SwapDirection kDirection>
bool LacksHwIndex(std::span<const std::byte> body, uint16_t misc, const RecordLayout& layout) {
  Sample sample;
  FieldSwapper<kDirection> with(body, nullptr, misc);
  SampleFields(with, layout, sample);
  if (!sample.branches.empty() || (with.ok() && with.remaining() == 0)) return false;
  FieldSwapper<kDirection> without(body, nullptr, misc);
  SampleFields(without, WithoutHwIndex(layout), sample);
  return without.ok() && (!with.ok() || without.remaining() == 0);
}

// Swaps a sample's numbers into the swapper's destination.
template <SwapDirection kDirection>
void SwapSample(const RecordLayout& layout, FieldSwapper<kDirection>& swapper) {
  alignas(Sample) std::byte cleared[sizeof(Sample)];  // `Sample cleared{}` would be slow, see Zero
  Zero(cleared, sizeof(cleared));
  SampleFields(swapper, layout, *reinterpret_cast<Sample*>(cleared));
}

template <SwapDirection kDirection>
bool SwapBody(std::span<std::byte> body, RecordHeader header, const RecordLayout& layout) {
  FieldSwapper<kDirection> swapper(body, body.data(), header.misc);
  if (header.type == kRecordSample) {
    const bool shorter =
        MayLackHwIndex(layout) && LacksHwIndex<kDirection>(body, header.misc, layout);
    SwapSample(shorter ? WithoutHwIndex(layout) : layout, swapper);
    return swapper.ok();
  }
  return VisitRecordType(header.type, [&](auto record) {
    Fields(swapper, layout, record);
    return swapper.ok();
  });
}

constexpr uint64_t kOpaqueFields = kSampleRaw | kSampleStackUser | kSampleAux;

// Swaps a sample's numbers into `scratch`. Returns false if the record is too short or may lack
// hw_idx, because Decode might then read fields that were not swapped.
bool TurnNumbers(std::span<const std::byte> stored, RecordHeader header, const RecordLayout& layout,
                 std::byte* scratch) {
  if (MayLackHwIndex(layout)) return false;
  std::memcpy(scratch, &header, sizeof(header));
  const std::span<const std::byte> body = stored.subspan(sizeof(header));
  FieldSwapper<SwapDirection::kToNative> swapper(body, scratch + sizeof(header), header.misc);
  SwapSample(layout, swapper);
  const size_t rest = swapper.remaining();  // bytes of fields that a newer kernel added
  if (rest != 0) std::memcpy(scratch + stored.size() - rest, &stored[stored.size() - rest], rest);
  return swapper.ok();
}

RecordHeader HeaderOf(std::span<const std::byte> record) {
  RecordHeader header;
  std::memcpy(&header, record.data(), sizeof(header));
  return header;
}

}  // namespace

RecordLayout::RecordLayout(const Attr& attr)
    : sample_type(attr.sample_type),
      read_format(attr.read_format),
      branch_sample_type(attr.branch_sample_type),
      user_regs_mask(attr.sample_regs_user),
      intr_regs_mask(attr.sample_regs_intr),
      user_stack_bytes(attr.sample_stack_user),
      sample_id_all(attr.has(kAttrSampleIdAll)) {
  const Sample sample;
  sample_time_offset = SampleOffset(*this, sample, &sample.time);
  sample_id_offset = SampleOffset(*this, sample, &sample.id);
  sample_tid_offset = SampleOffset(*this, sample, &sample.pid);
  sample_cpu_offset = SampleOffset(*this, sample, &sample.cpu);
  FieldSizer fixed(0);
  FixedSampleFields(fixed, *this, sample);
  sample_fixed_size = fixed.size();
  if (!sample_id_all) return;
  const SampleId id;
  FieldSizer sizer(0);
  SampleIdFields(sizer, *this, id);
  trailer_size = sizer.size();
  trailer_time_offset = TrailerOffset(*this, id, &id.time);
  trailer_id_offset = TrailerOffset(*this, id, &id.id);
}

template <class Record>
bool Decode(RawRecord record, const RecordLayout& layout, Record* out) {
  *out = Record{};
  FieldReader reader(record);
  Fields(reader, layout, *out);
  return reader.ok();
}

bool Decode(RawRecord record, const RecordLayout& layout, Sample* out) {
  Clear(out);
  FieldReader reader(record);
  out->misc = record.misc();
  if (reader.remaining() >= layout.sample_fixed_size) [[likely]] {
    PlainReader front(reader.Front(layout.sample_fixed_size));
    FixedSampleFields(front, layout, *out);
  } else {
    FixedSampleFields(reader, layout, *out);
  }
  VariableSampleFields(reader, layout, *out);
  if (!MayLackHwIndex(layout) || !out->branches.empty() || (reader.ok() && reader.remaining() == 0))
    return reader.ok();
  Sample shorter;
  FieldReader again(record);
  SampleFields(again, WithoutHwIndex(layout), shorter);
  if (again.ok() && (!reader.ok() || again.remaining() == 0)) {
    shorter.misc = out->misc;
    *out = shorter;
    return true;
  }
  return reader.ok();
}

template <class Record>
bool Encode(uint32_t type, uint16_t misc, const RecordLayout& layout, const Record& record,
            std::vector<std::byte>* out) {
  FieldSizer sizer(misc);
  Fields(sizer, layout, record);
  const size_t size = FieldSizer::RoundUp(sizeof(RecordHeader) + sizer.size());
  if (size > kMaxRecordSize) return false;
  const size_t start = out->size();
  out->resize(start + size);
  const RecordHeader header{type, misc, static_cast<uint16_t>(size)};
  std::memcpy(out->data() + start, &header, sizeof(header));
  FieldWriter writer({out->data() + start + sizeof(header), size - sizeof(header)}, misc);
  Fields(writer, layout, record);
  return true;
}

#define PROFILER_DEFINE_CODEC(type, name, Record)                                      \
  template bool Decode<Record>(RawRecord, const RecordLayout&, Record*);               \
  template bool Encode<Record>(uint32_t, uint16_t, const RecordLayout&, const Record&, \
                               std::vector<std::byte>*);
#define PROFILER_IS_DEFINED(type, name, Record)
PROFILER_RECORD_TYPES(PROFILER_DEFINE_CODEC, PROFILER_IS_DEFINED)
#undef PROFILER_IS_DEFINED
#undef PROFILER_DEFINE_CODEC

uint64_t TimeOf(RawRecord record, const RecordLayout& layout) {
  return FieldOf(record, layout.sample_time_offset, layout.trailer_time_offset);
}

uint64_t IdOf(RawRecord record, const RecordLayout& layout) {
  return FieldOf(record, layout.sample_id_offset, layout.trailer_id_offset);
}

RecordHeader SwapHeader(RecordHeader header) {
  return {SwapBytes(header.type), SwapBytes(header.misc), SwapBytes(header.size)};
}

bool SwapBodyToNative(std::span<std::byte> record, const RecordLayout& layout) {
  return SwapBody<SwapDirection::kToNative>(record.subspan(sizeof(RecordHeader)), HeaderOf(record),
                                            layout);
}

bool SwapToNative(std::span<std::byte> record, const RecordLayout& layout) {
  const RecordHeader header = SwapHeader(HeaderOf(record));
  std::memcpy(record.data(), &header, sizeof(header));
  return SwapBodyToNative(record, layout);
}

RawRecord TurnToNative(std::span<const std::byte> stored, RecordHeader header,
                       const RecordLayout& layout, std::vector<std::byte>* scratch) {
  if (scratch->size() < stored.size()) scratch->resize(size_t{UINT16_MAX} + 1);
  const std::span<std::byte> turned(scratch->data(), stored.size());
  if (header.type == kRecordSample && TurnNumbers(stored, header, layout, turned.data())) {
    return (layout.sample_type & kOpaqueFields) == 0 ? RawRecord(turned)
                                                     : RawRecord(turned, stored.data());
  }
  std::copy(stored.begin(), stored.end(), turned.begin());
  std::memcpy(turned.data(), &header, sizeof(header));
  SwapBodyToNative(turned, layout);
  return RawRecord(turned);
}

std::vector<std::byte> CopyInOnePiece(RawRecord record, const RecordLayout& layout) {
  std::vector<std::byte> copy(record.numbers().begin(), record.numbers().end());
  if (record.in_one_piece()) return copy;
  const std::span<const std::byte> opaque = record.opaque();
  const auto fill = [&](const std::byte* begin, uint64_t size) {
    if (size != 0) std::memcpy(copy.data() + (begin - opaque.data()), begin, size);
  };
  Sample sample;
  if (!Decode(record, layout, &sample)) return copy;
  fill(sample.raw.data(), sample.raw.size());
  fill(sample.user_stack.data(), sample.user_stack_size);
  fill(sample.aux.data(), sample.aux.size());
  return copy;
}

bool SwapToForeign(std::span<std::byte> record, const RecordLayout& layout) {
  const RecordHeader native = HeaderOf(record);
  const RecordHeader foreign = SwapHeader(native);
  std::memcpy(record.data(), &foreign, sizeof(foreign));
  return SwapBody<SwapDirection::kToForeign>(record.subspan(sizeof(RecordHeader)), native, layout);
}

}  // namespace profiler::perf_event
