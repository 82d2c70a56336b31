// The text of `profiler summary`, for whoever has a recording.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/naming/load_profile.h"

namespace profiler::cli {

// What LoadProfile must keep for it.
void AskForSummary(naming::LoadOptions& load);

enum class SummaryForm : uint8_t { kText, kJson };

// The summary of the named event of `loaded`, which was read from `path`, or of the one that
// query::ChooseEventOrWallClock chooses, whose errors it has. Joins the profile's times where that
// does.
absl::StatusOr<std::string> SummaryText(const std::string& path, const std::string& event,
                                        naming::LoadedProfile& loaded,
                                        SummaryForm form = SummaryForm::kText);

}  // namespace profiler::cli
