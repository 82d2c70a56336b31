// The text of `profiler summary`, for all commands that print it.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/cli/views/load_view.h"

namespace profiler::cli {

// Makes LoadView keep and prepare the data that the summary of `event` needs.
void AskForSummary(const std::string& event, ViewOptions& load);

enum class SummaryForm : uint8_t { kText, kJson };

// Returns the summary of an event of `loaded`, which was read from `path` after AskForSummary with
// the same event. If `event` is empty, analysis::ChooseEvent chooses it. Errors: those of
// ChooseEvent.
absl::StatusOr<std::string> SummaryText(const std::string& path, const std::string& event,
                                        const LoadedView& loaded,
                                        SummaryForm form = SummaryForm::kText);

}  // namespace profiler::cli
