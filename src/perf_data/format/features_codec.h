// Feature sections, between their bytes and their values.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "src/perf_data/format/features.h"
#include "src/perf_event/attr.h"

namespace profiler::perf_data {

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

// A build_id_event as it stands in BUILD_ID sections and as a record of a stream. False when it is
// impossible.
bool DecodeBuildId(std::span<const std::byte> record, bool swapped, BuildIdEntry* out);

}  // namespace profiler::perf_data
