#include "src/cli/commands.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "src/cli/output.h"
#include "src/cli/version.h"

namespace profiler::cli {

namespace {

using AddCommand = void (*)(CLI::App& app, Commands& commands);

// A new view is a file of its own and a line here.
constexpr AddCommand kViewsAndTools[] = {
    AddSummaryCommand, AddReportCommand,      AddFlameGraphCommands, AddAnnotateCommand,
    AddScriptCommand,  AddOpenCommand,        AddExportCommand,      AddImportCommand,
    AddConvertCommand, AddArchiveCommand,     AddDumpCommand,        AddSymbolizeCommand,
    AddEvlistCommand,  AddBuildIdListCommand, AddListCommand,        AddVersionAndHelpCommands,
};

}  // namespace

absl::StatusOr<std::vector<std::string>> CommandOf(const CLI::App& subcommand,
                                                   const Invocation& invocation) {
  std::vector<std::string> command = subcommand.remaining();
  if (!command.empty() && command.front().starts_with("-")) {
    return absl::InvalidArgumentError(
        absl::StrCat(subcommand.get_name(), ": unknown option ", command.front(), "; profiler ",
                     subcommand.get_name(), " --help lists them all"));
  }
  command.insert(command.end(), invocation.command.begin(), invocation.command.end());
  return command;
}

void AddVersionAndHelpCommands(CLI::App& app, Commands& commands) {
  CLI::App* const version = app.add_subcommand("version", "Print the version");
  commands[version] = [] {
    Output output("-");
    output.Write(absl::StrCat(kVersion, "\n"));
    return output.Close().ok() ? kExitOk : kExitFailure;
  };
  CLI::App* const help = app.add_subcommand("help", "Print this, or the help of a command");
  auto about = std::make_shared<std::string>();
  help->add_option("COMMAND", *about, "one of the commands");
  commands[help] = [&app, &commands, about] {
    const CLI::App* shown = about->empty() ? &app : nullptr;
    for (const auto& [command, run] : commands) {
      if (command->get_name() == *about) shown = command;
    }
    if (shown == nullptr) {
      PrintError(absl::StrCat("help: there is no command '", *about, "'"));
      return kExitUsage;
    }
    Output output("-");
    // App::help() is about the command that was given, which is this one.
    const std::string name =
        shown == &app ? app.get_name() : absl::StrCat(app.get_name(), " ", shown->get_name());
    output.Write(app.get_formatter()->make_help(shown, name, CLI::AppFormatMode::Normal));
    return output.Close().ok() ? kExitOk : kExitFailure;
  };
}

void AddCommands(CLI::App& app, Commands& commands, const Invocation& invocation) {
  AddRecordCommand(app, commands, invocation);
  AddStatCommand(app, commands, invocation);
  AddDiffCommand(app, commands, invocation);
  for (const AddCommand add : kViewsAndTools) add(app, commands);
}

}  // namespace profiler::cli
