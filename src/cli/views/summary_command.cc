// profiler summary

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "src/cli/command.h"
#include "src/cli/recording/recording_summary.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/report_options.h"
#include "src/cli/views/view.h"

namespace profiler::cli {
namespace {

struct SummaryArguments {
  ViewArguments view;
  bool json = false;
  uint32_t functions = 0;  // 0: as many as fit the screen
};

int WriteSummary(const SummaryArguments& arguments) {
  if (const absl::Status refused = CheckViewOutput(arguments.view.output, arguments.view.input);
      !refused.ok()) {
    PrintError(refused);
    return kExitUsage;
  }
  auto load = LoadOptionsOf(arguments.view);
  if (!load.ok()) {
    PrintError(load.status());
    return kExitUsage;
  }
  AskForSummary(arguments.view.event, *load);
  const auto loaded = LoadProfileOrPrint(arguments.view.input, *load);
  if (!loaded) return kExitFailure;
  if (loaded->nothing_left) {
    PrintWarning(*loaded->nothing_left);
    Output nothing(arguments.view.output);
    if (!arguments.json) return Finish(*loaded, nothing);
  }
  summary::Layout layout = LayoutOf(arguments.view.output == "-" ? STDOUT_FILENO : -1);
  layout.functions = arguments.functions;
  layout.options = SelectionOf(arguments.view);
  const auto text = SummaryText(arguments.view.input, arguments.view.event, *loaded, layout,
                                arguments.json ? SummaryForm::kJson : SummaryForm::kText);
  if (!text.ok()) {
    PrintError(text.status());
    return kExitUsage;
  }
  Output output(arguments.view.output, arguments.json ? Lines::kWhole : Lines::kFitted);
  output.Write(*text);
  return Finish(*loaded, output);
}

}  // namespace

void AddSummaryCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand(
      "summary", "Show on one screen where the time goes, how certain that is, and the next steps");
  auto arguments = std::make_shared<SummaryArguments>();
  SummaryArguments& a = *arguments;
  AddViewOptions(command, a.view);
  AddJsonOption(command, a.json);
  command
      .AddOption("-n,--rows", a.functions,
                 "functions in each list of the text (default: as many as fit the screen)")
      .ValueName("N")
      .Positive();
  AddInlineOption(command, a.view);
  AddFoldOption(command, a.view);
  AddNameRules(command, a.view.names);
  commands[&command] = RunView(command, a.view, [arguments] { return WriteSummary(*arguments); });
}

}  // namespace profiler::cli
