// Writes a recording as a stream, for pipes: nothing is ever changed after it was written.
//
//   16 B header │ HEADER_ATTR, EVENT_UPDATE of each event │ records … │ HEADER_FEATURE,
//   HEADER_BUILD_ID
//
// What differs from a file: ids that come late go into a further HEADER_ATTR record where there is
// more than one event (perf then shows them as an event of their own), and nowhere where there is
// one. Of the features, those without a place in perf's streams are left out: EVENT_DESC (the
// records in front say it) and those that perf does not know (it refuses the stream). A failed
// write ends the stream.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/perf_data/writer.h"

namespace profiler::perf_data {

// `name` is for messages.
absl::StatusOr<std::unique_ptr<Writer>> CreateStreamWriter(std::string name, UniqueFd fd,
                                                           std::vector<EventToWrite> events);

// Appends a HEADER_FEATURE record; nothing when the section is too large for a record.
void AddFeatureRecord(int bit, const std::string& section, std::string* out);

}  // namespace profiler::perf_data
