// profiler summary

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/cli/report_options.h"
#include "src/cli/view.h"
#include "src/query/wall_clock.h"
#include "src/summary/summary.h"

namespace profiler::cli {
namespace {

struct SummaryArguments {
  ViewArguments view;
  std::string event;
  bool json = false;
};

summary::Heading HeadingOf(const std::string& path, const perf_data::Recording& recording) {
  constexpr double kNanosecondsInASecond = 1e9;
  const perf_data::Features& features = recording.features();
  summary::Heading heading{.recording = path, .command = absl::StrJoin(features.cmdline, " ")};
  if (const auto& time = features.sample_time) {
    heading.seconds = static_cast<double>(time->last - time->first) / kNanosecondsInASecond;
  }
  return heading;
}

int WriteSummary(const SummaryArguments& arguments) {
  auto load = LoadOptionsOf(arguments.view);
  if (!load.ok()) {
    PrintError(load.status());
    return kExitUsage;
  }
  load->keep_order = true;
  load->keep_thread = true;
  auto loaded = LoadProfileOrPrint(arguments.view.input, *load);
  if (!loaded) return kExitFailure;
  query::KeepOnly(load->filter, loaded->profile);
  const auto event = query::ChooseEventOrWallClock(arguments.event, loaded->profile);
  if (!event.ok()) {
    PrintError(event.status());
    return kExitUsage;
  }
  summary::Summary summary;
  if (event->has_value()) summary = summary::Summarize(loaded->profile, **event);
  Output output("-", arguments.json ? Lines::kWhole : Lines::kFitted);
  const summary::Heading heading = HeadingOf(arguments.view.input, *loaded->recording);
  output.Write(arguments.json ? summary::SummaryAsJson(summary, heading)
                              : summary::FormatSummary(summary, heading));
  return Finish(*loaded, output);
}

}  // namespace

void AddSummaryCommand(CLI::App& app, Commands& commands) {
  CLI::App* command = app.add_subcommand(
      "summary", "Say in thirty lines where the time goes, how sure that is and what to see next");
  auto arguments = std::make_shared<SummaryArguments>();
  SummaryArguments& a = *arguments;
  AddViewOptions(*command, a.view, ShortFilters::kYes);
  AddEventOption(*command, a.event);
  AddJsonOption(*command, a.json);
  AddInlineOption(*command, a.view);
  AddNameRules(*command, a.view.names);
  commands[command] = [arguments] { return WriteSummary(*arguments); };
}

}  // namespace profiler::cli
