// Shows the screen of `top`.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/analysis/amount.h"
#include "src/cli/live/top_loop.h"
#include "src/cli/live/top_text.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/terminal.h"
#include "src/live/running_sum.h"
#include "src/terminal/curses_screen.h"
#include "src/views/annotate/annotation.h"
#include "src/views/annotate/listing.h"
#include "src/views/annotate/source_files.h"
#include "src/views/top/top_screen.h"

namespace profiler::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

struct NamedRange {
  live::Range range;
  live::Decay decay{0};
  std::string name;
};

// Returns the choices of time, and the index of the one that the options name.
std::vector<NamedRange> RangesFor(const TopPlan& plan, size_t* index) {
  using std::chrono::seconds;
  std::vector<NamedRange> ranges = {{seconds(2), {}, "2 s"},
                                    {seconds(10), {}, "10 s"},
                                    {seconds(60), {}, "minute"},
                                    {seconds(60), plan.delay, "minute, decaying"},
                                    {std::nullopt, {}, "all"}};
  for (*index = 0; *index < ranges.size(); ++*index) {
    if (ranges[*index].range == plan.range && ranges[*index].decay == plan.decay) return ranges;
  }
  ranges.push_back(
      {.range = plan.range,
       .name = absl::StrCat(std::chrono::duration<double>(*plan.range).count(), " s")});
  return ranges;
}

std::vector<std::string> NamesOf(const std::vector<NamedRange>& ranges) {
  std::vector<std::string> names;
  for (const NamedRange& range : ranges) names.push_back(range.name);
  return names;
}

class ScreenLoop {
 public:
  ScreenLoop(const TopArguments& arguments, TopPlan& plan, live::LiveRecording& live,
             terminal::Screen& screen)
      : plan_(plan),
        live_(live),
        screen_(screen),
        facts_(FactsOf(plan)),
        ranges_(RangesFor(plan, &range_)),
        top_({.range = range_,
              .since_refresh = plan.since_refresh,
              .hide_kernel = arguments.hide_kernel,
              .hide_user = arguments.hide_user},
             NamesOf(ranges_)) {}

  void Run() {
    top_.SetData(Data());
    while (!is_over_) {
      terminal::Canvas canvas(screen_.size());
      top_.Draw(canvas.Whole());
      screen_.Show(canvas);
      const auto left = std::chrono::ceil<milliseconds>(next_ - steady_clock::now());
      const terminal::Event event =
          screen_.Read(static_cast<int>(std::clamp<int64_t>(left.count(), 0, plan_.delay.count())));
      if (event.kind != terminal::Event::Kind::kTimeout) Obey(top_.Handle(event));
      if (HasEnded()) top_.ShowMessage("The recorded processes have ended. q quits.");
      if (steady_clock::now() < next_) continue;
      next_ = std::max(next_ + plan_.delay, steady_clock::now());
      if (!top_.is_frozen()) top_.SetData(Data());
    }
  }

  // Lines for the user that the screen had no place for.
  const std::vector<std::string>& said() const { return said_; }

 private:
  bool HasEnded() const {
    pollfd ended = {.fd = live_.ended_fd(), .events = POLLIN};
    return poll(&ended, 1, 0) > 0;
  }

  void Obey(top::Request request) {
    if (top_.is_frozen() && !frozen_) {
      frozen_.emplace(live_.history().Get(plan_.range, plan_.decay));
    } else if (!top_.is_frozen()) {
      frozen_.reset();
    }
    // The choice may have changed.
    if (request != top::Request::kNone) sum_.reset();
    switch (request) {
      case top::Request::kNone:
        return;
      case top::Request::kQuit:
        is_over_ = true;
        return;
      case top::Request::kClear:
        live_.history().Clear();
        return top_.SetData(Data());
      case top::Request::kData:
        return top_.SetData(Data());
      case top::Request::kSave:
        return Save();
      case top::Request::kAnnotate:
        return Annotate();
    }
  }

  // Returns the plan with the choice that is shown.
  TopPlan PlanOfChoice() {
    const top::Choice& choice = top_.choice();
    const NamedRange since_refresh = {.range = plan_.delay};
    const NamedRange& shown = choice.since_refresh ? since_refresh : ranges_[choice.range];
    plan_.range = shown.range;
    plan_.decay = shown.decay;
    TopPlan plan = plan_;
    analysis::Filter& filter = plan.report.load.plan.filter;
    if (!choice.comm.empty()) filter.comms = {choice.comm};
    if (!choice.image.empty()) filter.images = {choice.image};
    plan.report.options.filter = filter;
    return plan;
  }

  // Returns a view of the frozen snapshot.
  TopView FrozenView() const {
    live::MergedProfile copy;
    copy.Add(frozen_->profile);
    copy.chains() = frozen_->profile.chains;
    return {
        .profile = std::make_shared<const profile::Profile>(PrepareTop(
            std::move(copy).Take(), shown_, top_.choice().hide_kernel, top_.choice().hide_user)),
        .left_out = frozen_->left_out,
        .length = frozen_->length,
        .shortened = frozen_->shortened};
  }

  // Makes the view of the present choice anew if something was chosen.
  TopView View(std::optional<live::RunningSum::Changes>* changes = nullptr) {
    if (!sum_) {
      const top::Choice& choice = top_.choice();
      shown_ = PlanOfChoice();
      sum_.emplace(live_.history(), RunningOptionsOf(shown_, choice.hide_kernel, choice.hide_user));
    }
    if (frozen_) return FrozenView();
    auto changed = sum_->Refresh();
    if (changes != nullptr) *changes = std::move(changed);
    return ViewOf(*sum_, shown_);
  }

  top::TopData Data() {
    top::TopData data;
    const TopView view = View(&data.changes);
    data.options = shown_.report.options;
    data.title = absl::StrCat(facts_.targets, ", ", facts_.rate);
    uint64_t samples = 0;
    for (const profile::Event& event : view.profile->events) samples += event.samples;
    const profile::Losses& losses = view.profile->losses;
    const uint64_t lost = losses.lost_samples + losses.lost_records;
    data.figures = absl::StrCat(samples, " samples, lost ", lost);
    data.remarks = RemarksOf(view);
    data.warns = lost != 0;
    data.use = UseOf(*view.profile);
    if (samples == 0 && live_.is_naming()) top_.ShowMessage("Reading names of functions …");
    data.profile = view.profile;
    return data;
  }

  // Returns the part of all CPUs' time that each window used.
  std::vector<double> UseOf(const profile::Profile& profile) const {
    const bool is_time =
        !profile.events.empty() && analysis::UnitOf(profile.text(profile.events[0].name)) == "ns";
    const record::RecordOptions& recording = plan_.live.recording;
    const bool has_rate =
        recording.period == 0 && recording.frequency != record::RecordOptions::kMaxFrequency;
    std::vector<double> use;
    for (const live::Use& window : live_.history().uses()) {
      const double nanoseconds = is_time    ? static_cast<double>(window.busy)
                                 : has_rate ? static_cast<double>(window.busy_samples) * 1e9 /
                                                  static_cast<double>(recording.frequency)
                                            : 0;
      use.push_back(
          std::clamp(nanoseconds / (static_cast<double>(window.length) * cpus_), 0.0, 1.0));
    }
    return use;
  }

  void Save() {
    const std::string path = absl::StrCat("top-", getpid(), "-", ++saved_, ".data");
    const absl::Status status =
        WriteShown(live_.history(), std::chrono::seconds(60), plan_, path,
                   [this](std::string_view line) { said_.emplace_back(line); });
    top_.ShowMessage(status.ok() ? absl::StrCat("The last minute is in ", path, ".")
                                 : std::string(status.message()));
  }

  void Annotate() {
    const std::string name = top_.selected_function();
    const absl::StatusOr<std::string> text = Listing(name);
    if (!text.ok()) return top_.ShowMessage(std::string(text.status().message()));
    top_.ShowCode(name, *text);
  }

  absl::StatusOr<std::string> Listing(const std::string& name) {
    const TopView view = View();
    if (view.profile->events.empty()) return absl::NotFoundError("there are no samples");
    const profile::EventId event{};
    PROFILER_ASSIGN_OR_RETURN(const auto functions,
                              annotate::ChooseFunctions(*view.profile, event, name));
    naming::NamingOptions naming = plan_.live.windows.naming;
    naming.is_this_machine = true;
    naming.lines = naming.inlines = true;
    const auto names = naming::MakeNameStore({}, naming);
    PROFILER_ASSIGN_OR_RETURN(const annotate::AnnotatedFunction function,
                              annotate::Annotate(*view.profile, event, functions.front(), *names,
                                                 annotate::Syntax::kAtt));
    annotate::SourceFiles sources;
    sources.Permit(function, *names);
    annotate::ListingOptions listing;
    listing.totals.emplace_back();
    for (const profile::Row& row : view.profile->rows) {
      if (row.event == event) listing.totals.back() += analysis::WeightOf(row);
    }
    return annotate::FormatListing(function, listing, sources.Text());
  }

  TopPlan& plan_;
  live::LiveRecording& live_;
  terminal::Screen& screen_;
  const TopFacts facts_;
  // Number of online CPUs, which sysconf reads from a file.
  const double cpus_ = static_cast<double>(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
  size_t range_ = 0;
  const std::vector<NamedRange> ranges_;
  top::TopScreen top_;
  TopPlan shown_;                        // with the choice that is shown
  std::optional<live::RunningSum> sum_;  // unset: something was chosen
  std::optional<live::Snapshot> frozen_;
  steady_clock::time_point next_ = steady_clock::now() + plan_.delay;
  std::vector<std::string> said_;
  int saved_ = 0;
  bool is_over_ = false;
};

}  // namespace

absl::Status RunTopScreen(const TopArguments& arguments, TopPlan& plan, live::LiveRecording& live) {
  std::vector<std::string> said;
  {
    PROFILER_ASSIGN_OR_RETURN(const std::unique_ptr<terminal::Screen> screen,
                              terminal::OpenScreen({.colours = StyleOfStandardOutput().colour}));
    ScreenLoop loop(arguments, plan, live, *screen);
    loop.Run();
    said = loop.said();
  }
  for (const std::string& line : said) PrintNote(line);
  return absl::OkStatus();
}

}  // namespace profiler::cli
