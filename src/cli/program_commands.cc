// Commands about the program itself: its version, help, manual pages and shell completions.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/nearest_word.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/usage/completion.h"
#include "src/cli/usage/manual.h"
#include "src/cli/usage/usage.h"
#include "src/cli/version.h"

namespace profiler::cli {
namespace {

int Print(std::string_view text) {
  Output output("-");
  output.Write(text);
  return output.Close().ok() ? kExitOk : kExitFailure;
}

struct HelpOptions {
  std::string about;
  bool as_manual = false;
};

std::string ManualOf(const usage::Command& app, const usage::Command& shown) {
  const usage::Usage usage = usage::UsageOf(app);
  for (const usage::CommandUsage& command : usage.commands) {
    if (command.name == shown.Name()) return usage::ManualPage(usage, command);
  }
  return usage::ManualPage(usage);
}

void AddVersionCommand(usage::Command& app, Commands& commands) {
  usage::Command& version = app.AddCommand(
      "version", "Print the version and the libraries that the program was built with");
  version.AddFlag("-v,--verbose", "accepted as in perf; `doctor` shows what can be recorded here");
  commands[&version] = [] { return Print(absl::StrCat(VersionText(), "\n")); };
}

void AddHelpCommand(usage::Command& app, Commands& commands) {
  usage::Command& help = app.AddCommand("help", "Print the help of the program or of a command");
  auto options = std::make_shared<HelpOptions>();
  help.AddOption("COMMAND", options->about, "name of a command");
  help.AddFlag("--man", options->as_manual, "print a manual page, for man -l -");
  commands[&help] = [&app, &commands, options] {
    const usage::Command* shown = options->about.empty() ? &app : nullptr;
    for (const auto& [command, run] : commands) {
      if (command->Name() == options->about) shown = command;
    }
    if (shown == nullptr) {
      PrintError(absl::StrCat("help: there is no command '", options->about, "'",
                              DidYouMean(options->about, app.CommandNames())));
      return kExitUsage;
    }
    return Print(options->as_manual ? ManualOf(app, *shown) : shown->Help(HelpColumns()));
  };
}

void AddCompletionCommand(usage::Command& app, Commands& commands) {
  usage::Command& completion =
      app.AddCommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  completion.AddOption("SHELL", *shell, "bash, zsh or fish")
      .Required()
      .OneOf({"bash", "zsh", "fish"}, usage::InHelp::kNo);
  commands[&completion] = [&app, shell] {
    return Print(usage::Completion(*usage::ShellOf(*shell), usage::UsageOf(app)));
  };
}

}  // namespace

void AddProgramCommands(usage::Command& app, Commands& commands) {
  AddVersionCommand(app, commands);
  AddHelpCommand(app, commands);
  AddCompletionCommand(app, commands);
}

}  // namespace profiler::cli
