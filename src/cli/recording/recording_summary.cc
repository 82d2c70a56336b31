#include "src/cli/recording/recording_summary.h"

#include "src/analysis/event_choice.h"
#include "src/analysis/wall_clock.h"
#include "src/cli/files/describe_recording.h"
#include "src/views/summary/summary.h"

namespace profiler::cli {

void AskForSummary(const std::string& event, ViewOptions& load) {
  load.keep_order = true;
  load.keep_thread = true;
  load.plan.wall_clock = analysis::WallClockFor(event);
}

absl::StatusOr<std::string> SummaryText(const std::string& path, const std::string& event,
                                        const LoadedView& loaded, SummaryForm form) {
  PROFILER_ASSIGN_OR_RETURN(const auto chosen, analysis::ChooseEvent(loaded.profile, event));
  summary::Summary summary;
  if (chosen) summary = summary::Summarize(loaded.profile, *chosen);
  const json::RecordingFacts facts = FactsOf(path, *loaded.recording);
  return form == SummaryForm::kJson ? summary::SummaryAsJson(summary, facts)
                                    : summary::FormatSummary(summary, facts);
}

}  // namespace profiler::cli
