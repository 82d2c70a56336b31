// Profiles of OpenTelemetry: an ExportProfilesServiceRequest or ProfilesData of
// opentelemetry-proto v1.11.0 (src/otlp/request.h), as its collector and `profiler export` write
// them.
//
// Each profile of the file has one type of value, which is an event. A profile of samples/count and
// the profile behind it are one event: how many samples, and what they add up to, if their samples
// have the same stacks and attributes. The attributes process.pid, thread.id and thread.name say
// whose sample it is.

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/import/profile_maker.h"

namespace profiler::import {

// `bytes`: not compressed. kDataLoss where they are cut, or not of this layout.
absl::Status ReadOtlp(std::string_view bytes, ProfileMaker& maker);

// True if the bytes begin as such a file does.
bool LooksLikeOtlp(std::string_view start);

}  // namespace profiler::import
