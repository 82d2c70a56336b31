// Reads the records that perf itself writes (types 64 and above) and converts them to native byte
// order.
// Source: tools/lib/perf/include/perf/event.h, Linux 7.2.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "src/format/perf_data/format/features.h"
#include "src/format/perf_data/read/event_table.h"

namespace profiler::perf_data {

// Takes a stream's events and features from its records; a file has them in its header. Handles
// HEADER_ATTR (unless `events_known`), HEADER_EVENT_TYPE, EVENT_UPDATE, HEADER_FEATURE,
// HEADER_BUILD_ID and HEADER_TRACING_DATA (whose trace is `payload`), and ignores all other
// records. Returns false if the record is too short or invalid.
bool CollectOwnRecord(const StoredRecord& record, std::span<const std::byte> payload, bool swapped,
                      bool events_known, EventTable* events, Features* features);

// True for the HEADER_FEATURE record that ends the features of a stream. Its number is one more
// than the last feature of the perf that wrote it. Later versions of perf use this number for a
// feature.
bool IsEndOfFeatures(uint64_t bit, size_t section_size);

// Reads the body of a HEADER_EVENT_TYPE record. If it carries a piece of a feature section (see
// kCarrierConfig), appends the piece to that section in `*sections`. Returns the section's number
// when it is complete, otherwise nullopt.
std::optional<int> CollectCarriedSection(std::span<const std::byte> body, bool swapped,
                                         std::map<int, std::string>* sections);

// Returns the number of the section whose piece this HEADER_EVENT_TYPE record carries; nullopt if
// it carries none.
std::optional<int> CarriedSectionOf(std::span<const std::byte> body, bool swapped);

// Converts the body of one of perf's own records to native order, in place. Bodies of unknown types
// do not change, and neither does the feature data of HEADER_FEATURE, because their layout is not
// known here. `record` is whole, and its header is native.
void SwapOwnBodyToNative(std::span<std::byte> record);

}  // namespace profiler::perf_data
