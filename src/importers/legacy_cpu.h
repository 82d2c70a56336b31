// Reads CPU profiles of gperftools and of old Java agents (legacy_pprof.h).

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

bool IsLegacyCpuProfile(std::string_view bytes);

// Reads a profile into `maker`. IsLegacyCpuProfile must be true for `bytes`. Returns kDataLoss,
// with the offset, if the bytes are cut.
absl::Status ReadLegacyCpuProfile(std::string_view bytes, ProfileMaker& maker);

}  // namespace profiler::importers
