// Feature sections, between their bytes and their values.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/perf_data/format/features.h"
#include "src/perf_data/format/field_io.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_data {

// The sections that are a few numbers: their fields, in the order of the file.
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

// What EVENT_DESC says of one event.
struct EventDesc {
  perf_event::Attr attr;
  std::string name;
  std::vector<uint64_t> ids;
  bool operator==(const EventDesc&) const = default;
};

// Reads one section into its place in `*features` (a section without a value goes to `other` as it
// stands; EVENT_DESC too, its reader is DecodeEventDesc). False when it is cut or impossible: what
// could be read is kept.
bool DecodeFeature(int bit, std::span<const std::byte> section, bool swapped, Features* features);

// The sections of all that `features` holds, by bit.
std::map<int, std::string> EncodeFeatures(const Features& features);

// EVENT_DESC. Decoding returns the events that could be read before anything impossible.
std::vector<EventDesc> DecodeEventDesc(std::span<const std::byte> section, bool swapped);
std::string EncodeEventDesc(std::span<const EventDesc> events);

// The same of events whose attrs are bytes already, all of one size.
struct StoredEventDesc {
  std::string attr;
  std::string_view name;
  std::span<const uint64_t> ids;
};
std::string EncodeEventDesc(std::span<const StoredEventDesc> events, size_t attr_size,
                            bool swapped);

// A build_id_event as it stands in BUILD_ID sections and as a record of a stream. False when it is
// impossible.
bool DecodeBuildId(std::span<const std::byte> record, bool swapped, BuildIdEntry* out);

}  // namespace profiler::perf_data
