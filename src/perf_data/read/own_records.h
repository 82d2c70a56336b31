// Records that perf itself writes (types 64 and above): what they say of the recording, and how
// they are turned into native byte order.
// Source: tools/lib/perf/include/perf/event.h, Linux 7.2.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "src/perf_data/format/features.h"
#include "src/perf_data/read/event_table.h"

namespace profiler::perf_data {

// Takes what a stream says of its events and features in records, as a file does in its header:
// HEADER_ATTR (unless `events_known`), HEADER_EVENT_TYPE, EVENT_UPDATE, HEADER_FEATURE,
// HEADER_BUILD_ID, HEADER_TRACING_DATA (its trace is `payload`). All other records are left alone.
// False when the record is too short or impossible.
bool CollectOwnRecord(const StoredRecord& record, std::span<const std::byte> payload, bool swapped,
                      bool events_known, EventTable* events, Features* features);

// True for the HEADER_FEATURE record that ends a stream's features: its number is that of the first
// feature that its perf did not know, so later perfs have a feature of this number.
bool IsEndOfFeatures(uint64_t bit, size_t section_size);

// Reads the body of a HEADER_EVENT_TYPE record that carries a piece of a feature section (see
// kCarrierConfig), and adds the piece to that section in `*sections`. Nothing when it is none, or
// when its section is not whole yet; else the section's number.
std::optional<int> CollectCarriedSection(std::span<const std::byte> body, bool swapped,
                                         std::map<int, std::string>* sections);

// The section that such a record carries a piece of; nothing when it is none.
std::optional<int> CarriedSectionOf(std::span<const std::byte> body, bool swapped);

// Turns the body of a record of perf's own into native order, in place, as far as its layout is
// fixed; bodies of types that are unknown here, and the feature data of HEADER_FEATURE, are left as
// they are. `record` is whole, with its header native already.
void SwapOwnBodyToNative(std::span<std::byte> record);

}  // namespace profiler::perf_data
