// profiler export

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/files/export_formats.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/report_options.h"

namespace profiler::cli {
namespace {

struct ExportArguments {
  ViewArguments view;
  std::string format;
};

int RunExport(const ExportArguments& arguments) {
  const ExportFormat* const format = FindExportFormat(arguments.format, arguments.view.output);
  if (format == nullptr) {
    PrintError(absl::StrCat("-o: the name '", arguments.view.output,
                            "' does not imply a format; give --format with one of ",
                            ExportFormatList()));
    return kExitUsage;
  }
  return Export({arguments.view, arguments.view.event, arguments.view.output}, *format);
}

}  // namespace

void AddExportCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("export", "Write a recording as a file of another program");
  auto arguments = std::make_shared<ExportArguments>();
  ExportArguments& a = *arguments;
  AddViewOptions(command, a.view,
                 {.events = ShownEvents::kAll,
                  .output = "file to write; its name chooses the format; - for standard output",
                  .needs_output = true,
                  .format = "--input-format"});
  AddInlineOption(command, a.view);
  AddFoldOption(command, a.view);
  AddNameRules(command, a.view.names);
  std::vector<std::string> names;
  for (const ExportFormat& format : ExportFormats()) names.emplace_back(format.name);
  command
      .AddOption("--format", a.format,
                 absl::StrCat("format, instead of the one that the file name implies: ",
                              ExportFormatList()))
      .ValueName("NAME")
      .OneOf(names);
  commands[&command] = RunView(command, a.view, [arguments] { return RunExport(*arguments); });
}

}  // namespace profiler::cli
