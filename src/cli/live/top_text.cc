#include "src/cli/live/top_text.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "src/analysis/filter.h"
#include "src/analysis/prepare.h"
#include "src/analysis/unmatched_filter.h"
#include "src/base/percent.h"
#include "src/profile/losses_text.h"
#include "src/views/json/document.h"
#include "src/views/report/report.h"
#include "src/views/report/report_json.h"

namespace profiler::cli {
namespace {

using profile::Mode;
using profile::Profile;
using std::chrono::system_clock;

uint64_t SamplesOf(const Profile& profile) {
  uint64_t samples = 0;
  for (const profile::Event& event : profile.events) samples += event.samples;
  return samples;
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string ClockTime(system_clock::time_point now) {
  const time_t seconds = system_clock::to_time_t(now);
  tm local{};
  localtime_r(&seconds, &local);
  return absl::StrFormat("%02d:%02d:%02d", local.tm_hour, local.tm_min, local.tm_sec);
}

}  // namespace

std::vector<std::string> RemarksOf(const TopView& view) {
  const uint64_t all = SamplesOf(*view.profile) + view.left_out.idle + view.left_out.own;
  std::vector<std::string> remarks;
  const auto add = [&](uint64_t part, uint64_t whole, std::string_view what) {
    if (part == 0) return;
    remarks.push_back(absl::StrFormat("%.2f %% %s", Percent(part, whole), std::string(what)));
  };
  add(view.left_out.idle, all, "of the samples are hidden: idle CPUs");
  add(view.left_out.own, all, "of the samples are hidden: profiler itself");
  const ChainQuality& chains = view.profile->chains;
  add(chains.cut(), chains.chains(), "of the call chains are cut");
  add(chains.broken, chains.by_kernel, "of the frame-pointer chains are broken");
  if (view.shortened > 0) {
    remarks.push_back(
        absl::StrFormat("%.2f %% of the weight has lost its callers", 100 * view.shortened));
  }
  const std::string losses = profile::LossesText(view.profile->losses);
  if (!losses.empty()) remarks.push_back(losses);
  if (!view.nothing.empty()) remarks.push_back(view.nothing);
  return remarks;
}

TopFacts FactsOf(const TopPlan& plan) {
  const record::RecordOptions& recording = plan.live.recording;
  TopFacts facts;
  facts.rate = recording.period != 0 ? absl::StrCat("every ", recording.period, " events")
               : recording.frequency == record::RecordOptions::kMaxFrequency
                   ? "the highest frequency"
                   : absl::StrCat(recording.frequency, " Hz");
  const target::Targets& targets = recording.targets;
  if (!targets.command.empty()) {
    facts.targets = targets.command.front();
  } else if (targets.system_wide) {
    facts.targets = targets.cpus.empty()
                        ? absl::StrCat("all ", sysconf(_SC_NPROCESSORS_ONLN), " CPUs")
                        : absl::StrCat("CPU ", absl::StrJoin(targets.cpus, ","));
  } else if (targets.pids.size() + targets.tids.size() == 1) {
    facts.targets = targets.pids.empty() ? absl::StrCat("thread ", targets.tids[0])
                                         : absl::StrCat("process ", targets.pids[0]);
  } else {
    facts.targets = targets.pids.empty() ? absl::StrCat(targets.tids.size(), " threads")
                                         : absl::StrCat(targets.pids.size(), " processes");
  }
  return facts;
}

Profile PrepareTop(Profile profile, const TopPlan& plan, bool hide_kernel, bool hide_user) {
  if (hide_kernel || hide_user) {
    analysis::KeepRows(
        [&](const profile::Row& row) {
          const Mode mode = profile[row.self].mode;
          const bool is_kernel = mode == Mode::kKernel || mode == Mode::kGuestKernel;
          return is_kernel ? !hide_kernel : !hide_user;
        },
        profile);
  }
  return analysis::Prepare(std::move(profile), plan.report.load.plan).profile;
}

live::RunningOptions RunningOptionsOf(const TopPlan& plan, bool hide_kernel, bool hide_user) {
  const analysis::Plan& steps = plan.report.load.plan;
  live::RunningOptions options{.range = plan.range, .decay = plan.decay};
  const bool derives = std::any_of(steps.columns.begin() + profile::kDimensionsOfSamples,
                                   steps.columns.end(), [](bool derived) { return derived; });
  // These steps read all rows, or add columns, which sums do not have.
  options.adds_up = !derives && steps.only_event.empty() && steps.trace_fields.empty() &&
                    steps.latencies != analysis::LatencyEvents::kAlways;
  // The other steps change each row by itself. With `keeps_filtered`, the filter changes none; the
  // windows have no texts of tracepoints.
  const bool joins = steps.wall_clock && plan.live.recording.off_cpu;
  const bool changes_rows = hide_kernel || hide_user || steps.fold_native || steps.names.any() ||
                            !steps.keeps_filtered || joins || steps.hide_unresolved ||
                            steps.ignored_callees || steps.ignored_callers || !options.adds_up;
  if (changes_rows) {
    options.prepare = [plan, hide_kernel, hide_user](Profile profile) {
      return PrepareTop(std::move(profile), plan, hide_kernel, hide_user);
    };
  }
  return options;
}

TopView ViewOf(const live::RunningSum& sum, const TopPlan& plan) {
  return {
      .profile = sum.profile(),
      .left_out = sum.left_out(),
      .length = sum.length(),
      .shortened = sum.shortened(),
      .nothing =
          analysis::WhyNothingPasses(*sum.profile(), plan.report.load.plan.filter).value_or("")};
}

std::string TopHeading(const TopView& view, const TopPlan& plan, const TopFacts& facts,
                       system_clock::time_point now) {
  const profile::Losses& losses = view.profile->losses;
  std::string text = absl::StrFormat("# %s, %s: %d samples in %.1f s at %s, %s; lost %d\n",
                                     ClockTime(now), ShownInWords(plan.range, plan.decay),
                                     SamplesOf(*view.profile), Seconds(view.length), facts.rate,
                                     facts.targets, losses.lost_samples + losses.lost_records);
  if (const auto remarks = RemarksOf(view); !remarks.empty()) {
    absl::StrAppend(&text, "# ", absl::StrJoin(remarks, "; "), "\n");
  }
  return text;
}

std::string TopTable(const TopView& view, const TopPlan& plan, const TopFacts& facts,
                     system_clock::time_point now) {
  std::string text = TopHeading(view, plan, facts, now);
  report::WriteReport(*view.profile, plan.report.options,
                      [&](std::string_view piece) { text += piece; });
  return text;
}

std::string TopDocument(const TopView& view, const TopPlan& plan, system_clock::time_point now) {
  const json::RecordingFacts facts{
      .path = "",
      .command = absl::StrJoin(plan.live.recording.targets.command, " "),
      .seconds = Seconds(view.length)};
  json::Value document =
      json::Value::parse(report::ReportAsJson(*view.profile, plan.report.options, facts));
  document["view"] = "top";
  document["time"] = std::chrono::duration<double>(now.time_since_epoch()).count();
  document["range"] = plan.range ? json::Value(Seconds(*plan.range)) : json::Value(nullptr);
  document["decay"] = Seconds(plan.decay);
  document["left_out"] = {{"idle", view.left_out.idle}, {"own", view.left_out.own}};
  return json::Line(document);
}

}  // namespace profiler::cli
