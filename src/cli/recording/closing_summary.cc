#include "src/cli/recording/closing_summary.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "src/cli/recording/recording_summary.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/load_view.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::cli {
namespace {

// Reading more samples would delay the prompt too long.
constexpr uint64_t kMostSamples = 500'000;

// True if standard error is a terminal and the user has not asked for less. Returns false if the
// recording contains no names, because users pass --embed none to avoid look-ups of names.
bool IsExpected(const RecordArguments& arguments, const Recorded& recorded) {
  return !arguments.no_summary && !arguments.quiet && ErrorsAreShownLive() &&
         recorded.has_all_names;
}

void PrintSummaryOf(const std::string& path, const RecordArguments& arguments) {
  ViewOptions load;
  AskForSummary("", load);
  load.naming.places.no_cache = arguments.no_cache;
  load.naming.places.no_sandbox = arguments.no_sandbox;
  load.naming.warn = PrintWarning;
  load.naming.fetch.off = true;
  const auto loaded = LoadView(path, load);
  if (!loaded.ok()) {
    PrintWarning(absl::StrCat("no summary: ", loaded.status().message()));
    return;
  }
  summary::Layout layout = LayoutOf(STDERR_FILENO);
  // The last line of the recorder and a blank line precede the summary on the screen.
  constexpr size_t kBefore = 2;
  if (ErrorsAreShownLive()) layout.lines -= std::min(layout.lines, kBefore);
  const auto text = SummaryText(path, "", **loaded, layout);
  if (!text.ok()) {
    PrintWarning(absl::StrCat("no summary: ", text.status().message()));
    return;
  }
  PrintFittedLines("\n" + *text);
}

}  // namespace

absl::Status CheckSummary(const RecordArguments& arguments, const record::RecordOptions& options) {
  if (!arguments.summary) return absl::OkStatus();
  const auto refused = [](std::string_view with) {
    return absl::InvalidArgumentError(
        absl::StrCat("--summary cannot be used with ", std::string(with)));
  };
  if (options.output == "-") return refused("-o -, because a stream cannot be read again");
  if (options.switch_output) return refused("--switch-output");
  if (options.flight) return refused("--flight");
  if (arguments.repeat) return refused("--repeat, which prints a table of all runs");
  return absl::OkStatus();
}

void PrintMissingNames(const RecordArguments& arguments, const Recorded& recorded) {
  if (!arguments.quiet && !recorded.missing_names.empty()) PrintNote(recorded.missing_names);
}

void PrintClosingSummary(const RecordArguments& arguments, const Recorded& recorded) {
  const std::string& path = recorded.summary.last_file;
  const bool is_one_file = path != "-" && arguments.switch_output.empty() &&
                           !arguments.flight.is_given() && !arguments.flight.switches_files();
  const bool is_wanted = arguments.summary || IsExpected(arguments, recorded);
  if (!is_wanted || !recorded.status.ok() || !is_one_file || !perf_data::CanBeReadAgain(path)) {
    PrintMissingNames(arguments, recorded);
    return;
  }
  if (recorded.summary.last_file_samples > kMostSamples && !arguments.summary) {
    PrintMissingNames(arguments, recorded);
    PrintNote(absl::StrCat("profiler summary -i ", path, " shows where the time went"));
    return;
  }
  PrintSummaryOf(path, arguments);
}

}  // namespace profiler::cli
