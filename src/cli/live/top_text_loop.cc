// Prints the tables of `top` one after the other.

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cli/live/top_loop.h"
#include "src/cli/live/top_text.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/terminal.h"
#include "src/importers/write_profile.h"

namespace profiler::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr size_t kRows = 40;  // rows of a table without --entries

// The first table waits at most this long for samples with names. Idle targets have none.
constexpr std::chrono::seconds kPatience(10);

// Prints tables or documents until something ends the recording.
class TextLoop {
 public:
  TextLoop(const TopArguments& arguments, TopPlan& plan, live::LiveRecording& live,
           target::BlockedSignals& signals)
      : arguments_(arguments),
        plan_(plan),
        live_(live),
        signals_(signals),
        facts_(FactsOf(plan)),
        sum_(live.history(), RunningOptionsOf(plan, arguments.hide_kernel, arguments.hide_user)),
        output_("-", arguments.report.json ? Lines::kWhole : Lines::kFitted) {
    size_t& rows = plan_.report.options.most_rows;
    if (rows == 0 && !arguments.report.json) rows = kRows;
  }

  void Run() {
    auto next = steady_clock::now() + plan_.delay;
    while (!is_over_) {
      Wait(next);
      if (is_over_) break;
      next += plan_.delay;
      // Skips refreshes that a busy machine has missed.
      next = std::max(next, steady_clock::now());
      Print();
    }
  }

  // Prints a last table after the recording has ended, unless the user has seen one and ended it.
  void PrintLast() {
    if (ended_by_itself_ || printed_ == 0) Print();
  }
  absl::Status Close() { return output_.Close(); }

 private:
  void Wait(steady_clock::time_point until) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    pollfd sources[] = {{.fd = signals_.fd(), .events = POLLIN},
                        {.fd = live_.ended_fd(), .events = POLLIN}};
    const int ready = poll(sources, 2, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready <= 0) return;
    ended_by_itself_ = sources[1].revents != 0;
    is_over_ = ended_by_itself_ || signals_.Take().has_value();
  }

  // Says once that the first samples have no names yet.
  void NoteWait() {
    if (live_.is_naming() && !std::exchange(has_said_so_, true)) {
      PrintNote("the first names are being looked up");
    }
  }

  static bool HasNoSamples(const TopView& view) {
    const auto& events = view.profile->events;
    return std::all_of(events.begin(), events.end(),
                       [](const profile::Event& event) { return event.samples == 0; });
  }

  void Print() {
    if (live_.history().added() == 0) return NoteWait();
    sum_.Refresh();
    const TopView view = ViewOf(sum_, plan_);
    const bool may_wait = !is_over_ && std::chrono::steady_clock::now() < began_ + kPatience;
    if (printed_ == 0 && HasNoSamples(view) && may_wait) return NoteWait();
    const auto now = system_clock::now();
    if (arguments_.report.json) {
      output_.Write(TopDocument(view, plan_, now));
    } else {
      output_.Write(TopTable(view, plan_, facts_, now));
    }
    output_.Flush();
    ++printed_;
    if (arguments_.iterations != 0 && printed_ >= arguments_.iterations) is_over_ = true;
  }

  const TopArguments& arguments_;
  TopPlan& plan_;
  live::LiveRecording& live_;
  target::BlockedSignals& signals_;
  const TopFacts facts_;
  live::RunningSum sum_;
  Output output_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  uint64_t printed_ = 0;
  bool is_over_ = false, ended_by_itself_ = false;
  bool has_said_so_ = false;
};

}  // namespace

absl::Status WriteShown(live::History& history, const live::Range& range, const TopPlan& plan,
                        const std::string& path, const std::function<void(std::string_view)>& say) {
  const live::Snapshot all = history.Get(range);
  if (all.windows == 0 || all.profile.rows.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": there are no samples to write"));
  }
  importers::WriteProfileOptions options;
  options.most_bytes = plan.live.history.most_sum_bytes * 4;
  const auto written = importers::WriteProfile(all.profile, path, options);
  if (!written.ok()) return written.status();
  for (const std::string& warning : written->warnings) say(warning);
  say(absl::StrCat("profiler top: ", written->samples, " samples in ", path));
  return absl::OkStatus();
}

absl::Status RunTopText(const TopArguments& arguments, TopPlan& plan, live::LiveRecording& live,
                        target::BlockedSignals& signals) {
  // A pager would hold back the tables.
  ChooseTerminal({.pager = false,
                  .colour = StyleOfStandardOutput().colour ? Colour::kAlways : Colour::kNever});
  if (plan.since_refresh) plan.range = plan.delay, plan.decay = live::Decay(0);
  TextLoop loop(arguments, plan, live, signals);
  loop.Run();
  signals.EndAtNext();
  live.Stop(live::LiveRecording::Waiting::kIsNamed);
  loop.PrintLast();
  return loop.Close();
}

}  // namespace profiler::cli
