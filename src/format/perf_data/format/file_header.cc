#include "src/format/perf_data/format/file_header.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "src/format/perf_event/attr_codec.h"

namespace profiler::perf_data {
namespace {

using perf_event::Attr;
using perf_event::kAttrSizeVer0;

// Real attrs are small, and the kernel accepts at most a page.
constexpr size_t kAttrSizeMax = 4096;
constexpr size_t kAttrWord = 8;

absl::Status NoPerfData(size_t offset, std::string_view expected) {
  return absl::DataLossError(absl::StrCat("not a perf.data file: offset ", offset, ": expected ",
                                          absl::string_view(expected.data(), expected.size())));
}

std::bitset<kFeatureBits> BitsOf(const std::array<uint64_t, 4>& words) {
  std::bitset<kFeatureBits> bits;
  for (int bit = 0; bit < kFeatureBits; ++bit) bits[bit] = words[bit / 64] >> (bit % 64) & 1;
  return bits;
}

// Decodes the feature bitmap. It is an array of C `long`s, so swapping it depends on the recorder's
// word size, which is not stored. Every perf since 2.6.38 writes HOSTNAME, so the variant with that
// bit is right.
std::bitset<kFeatureBits> DecodeFeatureBits(std::array<uint64_t, 4> words, bool swapped) {
  if (!swapped) return BitsOf(words);
  std::array<uint64_t, 4> by_64, by_32;
  for (int i = 0; i < 4; ++i) {
    by_64[i] = SwapBytes(words[i]);
    by_32[i] = by_64[i] >> 32 | by_64[i] << 32;
  }
  const std::bitset<kFeatureBits> narrow = BitsOf(by_32);
  const std::bitset<kFeatureBits> wide = BitsOf(by_64);
  return !wide[kFeatureHostname] && narrow[kFeatureHostname] ? narrow : wide;
}

// Version 1 has the same magic in both byte orders. The header's size is a small number only in the
// right byte order.
bool LooksSwapped(uint64_t size) { return size > SwapBytes(size); }

bool PlausibleAttrEntrySize(uint64_t size) {
  return size >= kAttrSizeVer0 + sizeof(FileSection) &&
         size <= kAttrSizeMax + sizeof(FileSection) && size % kAttrWord == 0;
}

// True for a finished recording without any record. Such a file has its table of features where the
// records would begin.
bool EmptyOnPurpose(std::span<const std::byte> file, const FileHeader& header) {
  const uint64_t table_size = header.features.count() * sizeof(FileSection);
  FieldReader table(BytesInside(file, {header.data.offset, table_size}), header.swapped);
  const FileSection first = table.Section();
  // These bytes cannot be a record: if the section's offset is read as a record's header, the
  // record's size is 0.
  const uint64_t gap = first.offset - (header.data.offset + table_size);
  return table_size != 0 && table.ok() && gap <= kRoomForOwnFeatures * sizeof(FileSection);
}

}  // namespace

DataPlace LocateData(std::span<const std::byte> file, const FileHeader& header) {
  const uint64_t size = file.size();
  const uint64_t begin = std::min(header.data.offset, size);
  const uint64_t left = size - begin;
  if (header.data.size == 0 && left != 0 && !EmptyOnPurpose(file, header)) {
    return {begin, size,
            "the recording was not ended (its data size is 0); all whole records are read"};
  }
  if (header.data.size > left) {
    return {
        begin, size,
        absl::StrCat("the file is incomplete: ", header.data.size - left, " of ", header.data.size,
                     " bytes of records and all features are missing; the rest is read")};
  }
  return {begin, begin + header.data.size, ""};
}

std::vector<FeatureSection> LocateFeatures(std::span<const std::byte> file,
                                           const FileHeader& header, uint64_t table_offset) {
  const uint64_t table_size = header.features.count() * sizeof(FileSection);
  FieldReader table(BytesInside(file, {table_offset, table_size}), header.swapped);
  std::vector<FeatureSection> sections;
  for (int bit = 0; bit < kFeatureBits; ++bit) {
    if (!header.features[bit]) continue;
    const FileSection section = table.Section();
    const std::span<const std::byte> bytes = BytesInside(file, section);
    sections.push_back({bit, bytes, table.ok() && bytes.size() == section.size, section});
  }
  return sections;
}

std::string FeatureSections(const std::map<int, std::string>& sections, uint64_t offset,
                            bool swapped) {
  const auto own = sections.lower_bound(kFirstOwnFeature);
  const auto count = [](auto from, auto to) {
    return static_cast<size_t>(std::distance(from, to));
  };
  const size_t room =
      count(sections.begin(), own) + std::max(count(own, sections.end()), kRoomForOwnFeatures);
  std::string table, payloads;
  FieldWriter writer(&table, swapped);
  const uint64_t start = offset + room * sizeof(FileSection);
  for (const auto& [bit, payload] : sections) {
    writer.Section({start + payloads.size(), payload.size()});
    payloads += payload;
  }
  table.resize(room * sizeof(FileSection));
  return table + payloads;
}

std::span<const std::byte> BytesInside(std::span<const std::byte> file,
                                       const FileSection& section) {
  if (section.offset >= file.size()) return {};
  return file.subspan(section.offset, std::min(section.size, file.size() - section.offset));
}

std::array<std::byte, kFileHeaderSize> EncodeFileHeader(const FileHeader& header) {
  std::array<uint64_t, kFileHeaderSize / 8> words = {
      kMagic2,
      kFileHeaderSize,
      header.attr_entry_size,
      header.attrs.offset,
      header.attrs.size,
      header.data.offset,
      header.data.size,
      header.event_types.offset,
      header.event_types.size,
  };
  for (int bit = 0; bit < kFeatureBits; ++bit) {
    words[kFeatureBitsOffset / 8 + bit / 64] |= uint64_t{header.features[bit]} << (bit % 64);
  }
  if (header.swapped) {
    for (uint64_t& word : words) word = SwapBytes(word);
  }
  std::array<std::byte, kFileHeaderSize> bytes;
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

bool HasMagic(std::span<const std::byte> bytes) {
  FieldReader reader(bytes, /*swapped=*/false);
  const uint64_t magic = reader.U64();
  return magic == kMagic1 || magic == kMagic2 || magic == SwapBytes(kMagic2);
}

absl::StatusOr<FileHeader> DecodeFileHeader(std::span<const std::byte> bytes) {
  if (bytes.size() < kPipeHeaderSize) return NoPerfData(bytes.size(), "a header of 16 bytes");
  if (!HasMagic(bytes)) return NoPerfData(0, "the magic PERFILE2 or PERFFILE");
  FileHeader header;
  uint64_t magic, size;
  std::memcpy(&magic, bytes.data(), 8);
  std::memcpy(&size, bytes.data() + 8, 8);
  if (magic == kMagic1) {
    header.version = 1;
    header.swapped = LooksSwapped(size);
  } else {
    header.swapped = magic != kMagic2;
  }
  FieldReader reader(bytes.first(std::min(bytes.size(), kFileHeaderSize)), header.swapped);
  reader.U64();
  size = reader.U64();
  if (size == kPipeHeaderSize) {
    header.pipe = true;
    return header;
  }
  if (size != kFileHeaderSize && size != kFileHeaderSizeWithoutFeatures) {
    return NoPerfData(8, "a header size of 104, 72 or 16");
  }
  header.attr_entry_size = reader.U64();
  header.attrs = reader.Section();
  header.data = reader.Section();
  header.event_types = reader.Section();
  if (!reader.ok()) return NoPerfData(bytes.size(), "the rest of the header, but the file ends");
  // Check the size even if there are no entries, because callers divide by it.
  if (!PlausibleAttrEntrySize(header.attr_entry_size)) {
    return NoPerfData(16, "an attr size from 80 to 4112");
  }
  if (size == kFileHeaderSizeWithoutFeatures) return header;
  std::array<uint64_t, 4> words;
  const std::span<const std::byte> bitmap = reader.Bytes(sizeof(words));
  if (!reader.ok()) return NoPerfData(bytes.size(), "the rest of the header, but the file ends");
  std::memcpy(words.data(), bitmap.data(), sizeof(words));
  header.features = DecodeFeatureBits(words, header.swapped);
  return header;
}

Attr ReadSizedAttr(FieldReader& reader, size_t size, std::string* unknown_tail) {
  Attr attr;
  const std::span<const std::byte> bytes = reader.Bytes(size);
  const size_t known = std::min(bytes.size(), sizeof(attr));
  if (known != 0) std::memcpy(static_cast<void*>(&attr), bytes.data(), known);
  if (reader.swapped()) attr = perf_event::SwapAttrToNative(attr);
  if (unknown_tail != nullptr) *unknown_tail = TextOf(bytes.subspan(known));
  return attr;
}

void WriteSizedAttr(const Attr& attr, size_t size, std::string* out) {
  Attr sized = attr;
  sized.size = static_cast<uint32_t>(size);
  const size_t known = std::min(size, sizeof(sized));
  out->append(reinterpret_cast<const char*>(&sized), known);
  out->append(size - known, '\0');
}

uint32_t CommonAttrSize(std::span<const Attr> attrs) {
  uint32_t size = kAttrSizeVer0;
  for (const Attr& attr : attrs) size = std::max(size, SmallestSize(attr));
  return size;
}

size_t FileAttrSize(size_t largest) {
  return std::min((largest + kAttrWord - 1) / kAttrWord * kAttrWord, kAttrSizeMax);
}

absl::StatusOr<std::vector<AttrEntry>> DecodeAttrs(std::span<const std::byte> file,
                                                   const FileHeader& header) {
  std::vector<AttrEntry> entries;
  const std::span<const std::byte> bytes = BytesInside(file, header.attrs);
  if (bytes.size() < header.attrs.size) {
    return absl::DataLossError(absl::StrCat("cut file: the attrs section (offset ",
                                            header.attrs.offset, ", size ", header.attrs.size,
                                            ") is past the end (", file.size(), ")"));
  }
  if (bytes.empty()) return entries;
  if (const size_t events = bytes.size() / header.attr_entry_size; events > kMostEvents) {
    return absl::DataLossError(absl::StrCat("it has ", events, " events, and no more than ",
                                            kMostEvents, " are read: record fewer at a time"));
  }
  FieldReader reader(bytes, header.swapped);
  while (reader.remaining() >= header.attr_entry_size) {
    AttrEntry& entry = entries.emplace_back();
    entry.attr =
        ReadSizedAttr(reader, header.attr_entry_size - sizeof(FileSection), &entry.unknown_tail);
    entry.ids = reader.Section();
  }
  return entries;
}

std::vector<uint64_t> DecodeIds(std::span<const std::byte> file, const FileHeader& header,
                                const FileSection& section, size_t max_count) {
  FieldReader reader(BytesInside(file, section), header.swapped);
  std::vector<uint64_t> ids(std::min(reader.remaining() / sizeof(uint64_t), max_count));
  for (uint64_t& id : ids) id = reader.U64();
  return ids;
}

}  // namespace profiler::perf_data
