// The text of `profiler summary`, for all commands that print it.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/profile/naming/load_profile.h"

namespace profiler::cli {

// Makes LoadProfile keep the data that the summary needs.
void AskForSummary(naming::LoadOptions& load);

enum class SummaryForm : uint8_t { kText, kJson };

// Returns the summary of an event of `loaded`, which was read from `path`. If `event` is empty,
// analysis::ChooseEventOrWallClock chooses the event, and may join the profile's on-CPU and off-CPU
// times. Errors: those of ChooseEventOrWallClock.
absl::StatusOr<std::string> SummaryText(const std::string& path, const std::string& event,
                                        naming::LoadedProfile& loaded,
                                        SummaryForm form = SummaryForm::kText);

}  // namespace profiler::cli
