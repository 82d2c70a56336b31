// Writes a recording as a stream, for pipes: written bytes never change.
//
//   16 B header │ HEADER_ATTR, EVENT_UPDATE per event │ records … │ HEADER_FEATURE, HEADER_BUILD_ID
//
// Differences from a file: If there are several events, ids of AddIds go into another HEADER_ATTR
// record, which perf shows as a separate event. If there is one event, they are dropped.
// EVENT_DESC is omitted, because the first records contain it. perf would refuse a stream with
// features that it does not know, so records that perf skips carry them (kCarrierConfig). A failed
// write ends the stream.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/write/writer.h"

namespace profiler::perf_data {

// Creates the writer. `name` is for messages, `on_stream` is that of WriterOptions.
absl::StatusOr<std::unique_ptr<Writer>> CreateStreamWriter(std::string name, UniqueFd fd,
                                                           std::vector<EventToWrite> events,
                                                           StreamListener on_stream);

// Appends a record with this body, padded with zeroes to 8 bytes. Appends nothing and returns false
// if the body is too large. `swapped`: the header is written in the other byte order.
bool AddRecord(uint32_t type, uint16_t misc, std::string_view body, bool swapped, std::string* out);

// Appends a HEADER_FEATURE record. Appends nothing and returns false if the section is too large
// for a record.
bool AddFeatureRecord(int bit, std::string_view section, bool swapped, std::string* out);

// Appends the records by which a stream carries this feature section. Appends none for AUXTRACE,
// which is an index of file offsets.
void AddSectionRecords(int bit, std::string_view section, bool swapped, std::string* out);

// Appends an EVENT_UPDATE record that names the event which has `id`.
void AddNameRecord(uint64_t id, std::string_view name, bool swapped, std::string* out);

}  // namespace profiler::perf_data
