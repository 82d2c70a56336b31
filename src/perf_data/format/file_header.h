// The fixed header of perf.data and its table of events, as values.

#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/perf_data/format/field_io.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_data {

struct FileHeader {
  bool swapped = false;  // the file is in the other byte order
  bool pipe = false;     // a stream: nothing below counts, all comes as records
  int version = 2;
  uint64_t attr_entry_size = 0;  // one entry of `attrs`: an attr and the FileSection of its ids
  FileSection attrs, data, event_types;
  std::bitset<kFeatureBits> features;

  bool operator==(const FileHeader&) const = default;
};

// The header in its own byte order (`swapped` is obeyed). Version 2 files only.
std::array<std::byte, kFileHeaderSize> EncodeFileHeader(const FileHeader& header);

// Whether `bytes` begin as every perf.data does, in either byte order.
bool HasMagic(std::span<const std::byte> bytes);

// `bytes`: the start of the file. kDataLoss, with offset and field, when it is no perf.data.
absl::StatusOr<FileHeader> DecodeFileHeader(std::span<const std::byte> bytes);

// Reads an attr of `size` bytes. Fields past `size` are zero; bytes past what this program knows go
// to `*unknown_tail` (when not null); the attr's own size field is kept. Fails the reader when
// there are fewer than `size` bytes.
perf_event::Attr ReadSizedAttr(FieldReader& reader, size_t size,
                               std::string* unknown_tail = nullptr);

// Appends the first `size` bytes of `attr`, its size field set to `size`.
void WriteSizedAttr(const perf_event::Attr& attr, size_t size, std::string* out);

// The smallest attr size that holds each of `attrs`.
uint32_t CommonAttrSize(std::span<const perf_event::Attr> attrs);

// The size of attrs in a file for one of `largest` bytes, which streams may have of any size:
// words, no more than a page. What is beyond is in no kernel's attr.
size_t FileAttrSize(size_t largest);

// An entry of the attrs section.
struct AttrEntry {
  perf_event::Attr attr;
  std::string unknown_tail;  // of an attr from a newer kernel
  FileSection ids;
  bool operator==(const AttrEntry&) const = default;
};

// All entries of the attrs section. kDataLoss, with offset and field, when it is cut or impossible.
absl::StatusOr<std::vector<AttrEntry>> DecodeAttrs(std::span<const std::byte> file,
                                                   const FileHeader& header);

// The ids that `section` points at, at most `max_count`; what lies outside the file is left out.
std::vector<uint64_t> DecodeIds(std::span<const std::byte> file, const FileHeader& header,
                                const FileSection& section, size_t max_count);

// Where the records are. What the header says of their end is true only of a recording that was
// ended and not cut: otherwise they go on to the end of the file, there are no features, and
// `warning` says so.
struct DataPlace {
  uint64_t begin = 0, end = 0;
  std::string warning;
};
DataPlace LocateData(std::span<const std::byte> file, const FileHeader& header);

// The sections of the features that the header announces, by the table at `table_offset`, as far as
// they are inside of `file`.
struct FeatureSection {
  int bit = 0;
  std::span<const std::byte> bytes;
  bool whole = false;
  FileSection place;  // as the table says; zeroes where that is cut
};
std::vector<FeatureSection> LocateFeatures(std::span<const std::byte> file,
                                           const FileHeader& header, uint64_t table_offset);

// The table of sections and the sections, as they stand at `offset`, which is where the data ends.
// The table has room for sections of ours to come (Writer::AppendSection).
//
//   { u64 offset, size; } of each section, by feature bit │ spare │ section │ section │ …
std::string FeatureSections(const std::map<int, std::string>& sections, uint64_t offset,
                            bool swapped);

// The part of `section` that is inside of `file`.
std::span<const std::byte> BytesInside(std::span<const std::byte> file, const FileSection& section);

}  // namespace profiler::perf_data
