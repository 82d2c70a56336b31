#include "src/cli/views/report_browser.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/transfer.h"
#include "src/base/unique_fd.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/terminal.h"
#include "src/terminal/curses_screen.h"
#include "src/views/annotate/annotation.h"
#include "src/views/annotate/choice.h"
#include "src/views/annotate/listing.h"
#include "src/views/annotate/source_files.h"
#include "src/views/browser/browser.h"
#include "src/views/report/browsed_table.h"

namespace profiler::cli {
namespace {

// True if an option chooses the layout or another text, which a screen does not have.
bool AsksForText(const ReportArguments& arguments) {
  return arguments.stdio || arguments.view.output != "-" || arguments.json || arguments.hierarchy ||
         arguments.separator || !arguments.widths.empty() || arguments.header ||
         arguments.header_only || arguments.stats || arguments.dump || arguments.chains ||
         arguments.unresolved || arguments.tasks || arguments.mappings ||
         arguments.thread_counters || arguments.quiet || arguments.intervals;
}

// The code of functions, as annotate shows it.
class Code {
 public:
  explicit Code(const LoadedView& loaded) : loaded_(loaded) {}

  absl::StatusOr<std::string> ListingOf(const browser::CodeRequest& request) {
    const profile::Profile& profile = loaded_.profile;
    PROFILER_ASSIGN_OR_RETURN(const auto functions,
                              annotate::ChooseFunctions(profile, request.event, request.function));
    const auto chosen = std::find_if(
        functions.begin(), functions.end(), [&](const annotate::ChosenFunction& function) {
          return profile.text(profile[profile[function.symbol].image].name) == request.image;
        });
    if (chosen == functions.end()) {
      return absl::NotFoundError(absl::StrCat("no sample interrupted ",
                                              std::string(request.function),
                                              ": annotate one of its callees"));
    }
    PROFILER_ASSIGN_OR_RETURN(const auto function,
                              annotate::Annotate(profile, request.event, *chosen, *loaded_.names,
                                                 annotate::Syntax::kAtt));
    if (request.source) sources_.Permit(function, *loaded_.names);
    return annotate::FormatListing(function, {.source = request.source}, sources_.Text());
  }

 private:
  const LoadedView& loaded_;
  annotate::SourceFiles sources_;
};

// Writes the text to perf.hist.0, or the next number that is free, as perf does.
absl::StatusOr<std::string> PrintToFile(std::string_view text) {
  constexpr int kMostFiles = 10'000;
  for (int number = 0; number < kMostFiles; ++number) {
    const std::string name = absl::StrCat("perf.hist.", number);
    const UniqueFd file(
        open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (file.get() < 0 && errno == EEXIST) continue;
    if (file.get() < 0) return ErrnoStatus(errno, name);
    const int error = WriteFully(file.get(), std::as_bytes(std::span(text)));
    if (error != 0) return ErrnoStatus(error, name);
    return name;
  }
  return absl::ResourceExhaustedError("too many files perf.hist.N: remove some");
}

}  // namespace

bool OpensBrowser(const ReportArguments& arguments) {
  if (AsksForText(arguments)) return false;
  const bool can_open = terminal::CanOpenScreen();
  if (arguments.tui && !can_open) {
    PrintWarning("--tui: this is no terminal that can show a screen, so the report is plain text");
  }
  return can_open && (arguments.tui || MayTakeTerminal());
}

bool CanBrowse(const profile::Profile& profile, const report::ReportOptions& options) {
  const bool has_branches = std::any_of(profile.events.begin(), profile.events.end(),
                                        [](const auto& event) { return event.branch_stacks; });
  return !has_branches && !report::BrowsableTables(profile, options).empty();
}

absl::Status BrowseReport(const ReportArguments& arguments, const ViewOptions& load,
                          const LoadedView& loaded, const report::ReportOptions& options) {
  Code code(loaded);
  std::unique_ptr<const LoadedView> with_times;
  const browser::Source source = {
      .profile = loaded.profile,
      .options = options,
      .annotate = [&](const browser::CodeRequest& request) { return code.ListingOf(request); },
      .with_times = [&]() -> absl::StatusOr<const profile::Profile*> {
        ViewOptions sliced = load;
        // This thread must not write to the screen.
        sliced.on_progress = [](const naming::LoadProgress&) {};
        sliced.dimensions[static_cast<size_t>(profile::Dimension::kSlice)] = true;
        PROFILER_ASSIGN_OR_RETURN(with_times, LoadView(arguments.view.input, sliced));
        return &with_times->profile;
      },
      .print = PrintToFile};
  PROFILER_ASSIGN_OR_RETURN(const auto screen,
                            terminal::OpenScreen({.colours = StyleOfStandardOutput().colour}));
  browser::Browse(source, *screen);
  return absl::OkStatus();
}

}  // namespace profiler::cli
