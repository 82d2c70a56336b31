// Decodes and encodes the fixed header of perf.data, its table of events and its table of features.

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
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_event/attr.h"

namespace profiler::perf_data {

struct FileHeader {
  bool swapped = false;  // true if the file is in the other byte order
  // True for a stream. The fields below are then meaningless, because a stream has its events and
  // features in records.
  bool pipe = false;
  int version = 2;
  // Size of one entry of `attrs`: an attr and the FileSection of its ids.
  uint64_t attr_entry_size = 0;
  FileSection attrs, data, event_types;
  std::bitset<kFeatureBits> features;

  bool operator==(const FileHeader&) const = default;
};

// Encodes a header of version 2, in the byte order of `header.swapped`.
std::array<std::byte, kFileHeaderSize> EncodeFileHeader(const FileHeader& header);

// True if `bytes` begin like a perf.data file, in either byte order.
bool HasMagic(std::span<const std::byte> bytes);

// Decodes the start of a file. Error: kDataLoss, with offset and field, if it is no perf.data file.
absl::StatusOr<FileHeader> DecodeFileHeader(std::span<const std::byte> bytes);

// Reads an attr of `size` bytes. Fields beyond `size` are zero. Unknown bytes at its end go to
// `*unknown_tail`, unless that is null. Keeps the attr's own size field. Fails the reader if fewer
// than `size` bytes are left.
perf_event::Attr ReadSizedAttr(FieldReader& reader, size_t size,
                               std::string* unknown_tail = nullptr);

// Appends the first `size` bytes of `attr`, with `size` in its size field.
void WriteSizedAttr(const perf_event::Attr& attr, size_t size, std::string* out);

// Returns the smallest attr size that holds each of `attrs`.
uint32_t CommonAttrSize(std::span<const perf_event::Attr> attrs);

// Returns the size of attrs in a file if the largest attr has `largest` bytes. That number may come
// from an untrusted stream, so the result is at most a page; no kernel's attr is larger. The result
// is a multiple of 8.
size_t FileAttrSize(size_t largest);

// An entry of the attrs section.
struct AttrEntry {
  perf_event::Attr attr;
  std::string unknown_tail;  // unknown bytes of a newer kernel's attr
  FileSection ids;
  bool operator==(const AttrEntry&) const = default;
};

// Decodes all entries of the attrs section. Error: kDataLoss, with offset and field, if it is
// truncated or invalid.
absl::StatusOr<std::vector<AttrEntry>> DecodeAttrs(std::span<const std::byte> file,
                                                   const FileHeader& header);

// Decodes the ids that `section` points at, at most `max_count`. Omits ids outside the file.
std::vector<uint64_t> DecodeIds(std::span<const std::byte> file, const FileHeader& header,
                                const FileSection& section, size_t max_count);

// The position of the records in a file, which LocateData finds. The header's data size is valid
// only if the recording was finished and the file is not truncated. Otherwise the records extend to
// the end of the file, the features are missing, and `warning` says so.
struct DataPlace {
  uint64_t begin = 0, end = 0;
  std::string warning;
};
DataPlace LocateData(std::span<const std::byte> file, const FileHeader& header);

// The section of a feature. LocateFeatures finds the sections of all features in the header,
// through the table at `table_offset`. `bytes` is the part of the section that is inside `file`.
struct FeatureSection {
  int bit = 0;
  std::span<const std::byte> bytes;
  bool whole = false;
  FileSection place;  // as in the table; zeroes if the table is truncated
};
std::vector<FeatureSection> LocateFeatures(std::span<const std::byte> file,
                                           const FileHeader& header, uint64_t table_offset);

// Encodes the table of sections, and the sections behind it. The result belongs at `offset`, where
// the data ends. The table has room for sections that are appended later (Writer::AppendSection).
//
//   { u64 offset, size; } of each section, in order of bits │ spare │ section │ section │ …
std::string FeatureSections(const std::map<int, std::string>& sections, uint64_t offset,
                            bool swapped);

// Returns the part of `section` that is inside `file`.
std::span<const std::byte> BytesInside(std::span<const std::byte> file, const FileSection& section);

}  // namespace profiler::perf_data
