// Writes a recording as a stream, for pipes: nothing is ever changed after it was written.
//
//   16 B header │ HEADER_ATTR, EVENT_UPDATE of each event │ records … │ HEADER_FEATURE,
//   HEADER_BUILD_ID
//
// What differs from a file: ids that come late go into a further HEADER_ATTR record where there is
// more than one event (perf then shows them as an event of their own), and nowhere where there is
// one. Of the features, EVENT_DESC is left out, as the records in front say it; those that perf
// does not know, for which it would refuse the stream, are carried by records that it passes over
// (kCarrierConfig). A failed write ends the stream.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/perf_data/format/perf_data_format.h"
#include "src/perf_data/write/writer.h"

namespace profiler::perf_data {

// `name` is for messages, `on_stream` as WriterOptions has it.
absl::StatusOr<std::unique_ptr<Writer>> CreateStreamWriter(std::string name, UniqueFd fd,
                                                           std::vector<EventToWrite> events,
                                                           StreamListener on_stream);

// Appends a record with this body, padded with zeroes to 8 bytes; nothing, and false, when it is
// too large for one. `swapped`: its header is to be in the other byte order.
bool AddRecord(uint32_t type, uint16_t misc, std::string_view body, bool swapped, std::string* out);

// Appends a HEADER_FEATURE record; nothing, and false, when the section is too large for a record.
bool AddFeatureRecord(int bit, std::string_view section, bool swapped, std::string* out);

// Appends the records that say in a stream what this feature section says in a file: of AUXTRACE
// none, as it is an index of offsets.
void AddSectionRecords(int bit, std::string_view section, bool swapped, std::string* out);

// Appends an EVENT_UPDATE record that names the event which has `id`.
void AddNameRecord(uint64_t id, std::string_view name, bool swapped, std::string* out);

}  // namespace profiler::perf_data
