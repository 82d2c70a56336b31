// Reads CPU profiles of gperftools and of old Java agents (legacy_pprof.h).

#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/importers/profile_maker.h"

namespace profiler::importers {

bool IsLegacyCpuProfile(std::string_view bytes);

// Reads bytes that IsLegacyCpuProfile accepts into `maker`. kDataLoss, with the offset, if they are
// cut.
absl::Status ReadLegacyCpuProfile(std::string_view bytes, ProfileMaker& maker);

}  // namespace profiler::importers
