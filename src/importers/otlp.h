// Reads OpenTelemetry's profiles: an ExportProfilesServiceRequest or ProfilesData of
// opentelemetry-proto v1.11.0 (src/format/otlp/request.h), as the OpenTelemetry Collector and
// `profiler export` write them.
//
// Each profile of the file has one type of value, which is an event. If a profile of samples/count
// and the profile after it have the same stacks and attributes, both become one event, with the
// number of samples and the sum of their values. The attributes process.pid, thread.id and
// thread.name identify the thread of a sample.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

// Reads uncompressed `bytes` into `maker`. Returns kDataLoss if they are cut, or do not have this
// layout.
absl::Status ReadOtlp(std::string_view bytes, ProfileMaker& maker);

// True if the bytes begin like a file of this format.
bool LooksLikeOtlp(std::string_view start);

}  // namespace profiler::importers
