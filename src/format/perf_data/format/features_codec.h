// Decodes and encodes feature sections.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/format/perf_data/format/features.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_event/attr.h"

namespace profiler::perf_data {

// Sections that consist of a few numbers: their fields, in the order of the file.
template <class Io>
void Fields(Io& io, CpuCount& count) {
  io.Fields(count.available, count.online);
}
template <class Io>
void Fields(Io& io, SampleTime& time) {
  io.Fields(time.first, time.last);
}
template <class Io>
void Fields(Io& io, ClockData& data) {
  io.Fields(data.version, data.clockid, data.wall_clock_ns, data.clockid_time_ns);
}
template <class Io>
void Fields(Io& io, Compression& compression) {
  io.Fields(compression.version, compression.type, compression.level, compression.ratio,
            compression.mmap_len);
}

template <class T>
std::optional<T> DecodeFields(std::span<const std::byte> section, bool swapped) {
  FieldReader reader(section, swapped);
  T value;
  Fields(reader, value);
  return reader.ok() ? std::optional(value) : std::nullopt;
}

template <class T>
std::string EncodeFields(T value, bool swapped = false) {
  std::string section;
  FieldWriter writer(&section, swapped);
  Fields(writer, value);
  return section;
}

// EVENT_DESC's description of one event.
struct EventDesc {
  perf_event::Attr attr;
  std::string name;
  std::vector<uint64_t> ids;
  bool operator==(const EventDesc&) const = default;
};

// Decodes one section into `*features`. Sections that are not decoded, and EVENT_DESC (see
// DecodeEventDesc), are stored in `other` verbatim. Returns false if the section is truncated or
// invalid; keeps the part that could be decoded.
bool DecodeFeature(int bit, std::span<const std::byte> section, bool swapped, Features* features);

// Encodes all sections in `features`, keyed by feature bit.
std::map<int, std::string> EncodeFeatures(const Features& features);

// Encodes and decodes EVENT_DESC. Decoding returns the events before the first invalid one.
std::vector<EventDesc> DecodeEventDesc(std::span<const std::byte> section, bool swapped);
std::string EncodeEventDesc(std::span<const EventDesc> events);

// An event whose attr is encoded already. EncodeEventDesc accepts such events if all attrs have
// `attr_size` bytes.
struct StoredEventDesc {
  std::string attr;
  std::string_view name;
  std::span<const uint64_t> ids;
};
std::string EncodeEventDesc(std::span<const StoredEventDesc> events, size_t attr_size,
                            bool swapped);

// Decodes a build_id_event of a BUILD_ID section or of a stream's record. Returns false if it is
// invalid.
bool DecodeBuildId(std::span<const std::byte> record, bool swapped, BuildIdEntry* out);

}  // namespace profiler::perf_data
