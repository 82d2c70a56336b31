#include "src/cli/recording/recording_summary.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "src/analysis/event_choice.h"
#include "src/analysis/wall_clock.h"
#include "src/cli/files/describe_recording.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/views/symbols_remedy.h"

namespace profiler::cli {

void AskForSummary(const std::string& event, ViewOptions& load) {
  load.keep_order = true;
  load.keep_thread = true;
  load.plan.wall_clock = analysis::WallClockFor(event);
}

summary::Layout LayoutOf(int descriptor) {
  constexpr size_t kFewestColumns = 60;  // with fewer, tables would have no room for names
  summary::Layout layout;
  const TerminalStyle style =
      descriptor == STDERR_FILENO ? StyleOfStandardError() : StyleOfStandardOutput();
  if (style.columns != 0) layout.columns = std::max(style.columns, kFewestColumns);
  winsize size = {};
  if (isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_row != 0) {
    layout.lines = size.ws_row;
  }
  return layout;
}

absl::StatusOr<std::string> SummaryText(const std::string& path, const std::string& event,
                                        const LoadedView& loaded, const summary::Layout& layout,
                                        SummaryForm form) {
  constexpr size_t kFunctions = 10;
  PROFILER_ASSIGN_OR_RETURN(const auto chosen, analysis::ChooseEvent(loaded.profile, event));
  summary::Summary summary;
  if (chosen) {
    summary = summary::Summarize(loaded.profile, *chosen,
                                 layout.functions == 0 ? kFunctions : layout.functions);
  }
  const json::RecordingFacts facts = FactsOf(path, *loaded.recording);
  if (form == SummaryForm::kJson) return summary::SummaryAsJson(summary, facts);
  constexpr double kMuch = 0.02;  // share without a name that is worth a line
  summary::Layout with_remedy = layout;
  if (const auto& image = summary.most_unnamed; image && image->part > kMuch) {
    if (!image->path.empty()) {
      with_remedy.symbols_remedy = SymbolsRemedyHere()(image->path, image->build_id);
    }
  }
  return summary::FormatSummary(summary, facts, with_remedy);
}

}  // namespace profiler::cli
