// The text of `profiler summary`, for all commands that print it.

#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"
#include "src/cli/views/load_view.h"
#include "src/views/summary/summary.h"

namespace profiler::cli {

// Makes LoadView keep and prepare the data that the summary of `event` needs.
void AskForSummary(const std::string& event, ViewOptions& load);

enum class SummaryForm : uint8_t { kText, kJson };

// Returns the room for a summary on a terminal, which a descriptor may be. Otherwise returns 80
// columns and 24 lines.
summary::Layout LayoutOf(int descriptor);

// Returns the summary of an event of `loaded`, which was read from `path` after AskForSummary with
// the same event. If `event` is empty, analysis::ChooseEvent chooses it. JSON ignores the layout.
// Errors: those of ChooseEvent.
absl::StatusOr<std::string> SummaryText(const std::string& path, const std::string& event,
                                        const LoadedView& loaded, const summary::Layout& layout,
                                        SummaryForm form = SummaryForm::kText);

}  // namespace profiler::cli
