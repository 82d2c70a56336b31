// Of the program itself: its version, and what it can be told, as help, as manual pages and for the
// shells.

#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ringbuf/kernel.h"
#include "src/cli/abilities.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/cli/version.h"
#include "src/procfs/machine.h"
#include "src/usage/completion.h"
#include "src/usage/manual.h"
#include "src/usage/usage.h"

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

std::string HelpOf(CLI::App& app, const CLI::App& shown) {
  // App::help() is about the command that was given, which is this one.
  const std::string name =
      &shown == &app ? app.get_name() : absl::StrCat(app.get_name(), " ", shown.get_name());
  return app.get_formatter()->make_help(&shown, name, CLI::AppFormatMode::Normal);
}

std::string ManualOf(CLI::App& app, const CLI::App& shown) {
  const usage::Usage usage = usage::UsageOf(app);
  for (const usage::CommandUsage& command : usage.commands) {
    if (command.name == shown.get_name()) return usage::ManualPage(usage, command);
  }
  return usage::ManualPage(usage);
}

// What this user may record here.
std::string AbilitiesText() {
  const procfs::Roots roots;
  const procfs::MachineFacts machine = procfs::ReadMachineFacts(roots);
  std::string text = absl::StrCat("\non this machine (Linux ", machine.osrelease, ", ",
                                  machine.arch, ", ", machine.cpus_online, " CPUs), as ",
                                  geteuid() == 0 ? "root" : "an ordinary user", ":\n");
  for (const Ability& ability : FindAbilities(ringbuf::LinuxKernel(), roots)) {
    absl::StrAppendFormat(&text, "  %-20s %s%s%s\n", ability.name, ability.works ? "yes" : "no",
                          ability.text.empty() ? ""
                          : ability.works      ? ", "
                                               : ": ",
                          ability.text);
  }
  return text;
}

void AddVersionCommand(CLI::App& app, Commands& commands) {
  CLI::App* const version =
      app.add_subcommand("version", "Print the version, and what the program was made of");
  auto verbose = std::make_shared<bool>(false);
  version->add_flag("-v,--verbose", *verbose, "also what can be recorded here");
  commands[version] = [verbose] {
    return Print(absl::StrCat(VersionText(), "\n", *verbose ? AbilitiesText() : ""));
  };
}

void AddHelpCommand(CLI::App& app, Commands& commands) {
  CLI::App* const help = app.add_subcommand("help", "Print this, or the help of a command");
  auto options = std::make_shared<HelpOptions>();
  help->add_option("COMMAND", options->about, "one of the commands");
  help->add_flag("--man", options->as_manual, "as a manual page, for man -l -");
  commands[help] = [&app, &commands, options] {
    const CLI::App* shown = options->about.empty() ? &app : nullptr;
    for (const auto& [command, run] : commands) {
      if (command->get_name() == options->about) shown = command;
    }
    if (shown == nullptr) {
      PrintError(absl::StrCat("help: there is no command '", options->about, "'"));
      return kExitUsage;
    }
    return Print(options->as_manual ? ManualOf(app, *shown) : HelpOf(app, *shown));
  };
}

void AddCompletionCommand(CLI::App& app, Commands& commands) {
  CLI::App* const completion =
      app.add_subcommand("completion", "Print what completes words behind the program's name");
  auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  commands[completion] = [&app, shell] {
    return Print(usage::Completion(*usage::ShellOf(*shell), usage::UsageOf(app)));
  };
}

}  // namespace

void AddProgramCommands(CLI::App& app, Commands& commands) {
  AddVersionCommand(app, commands);
  AddHelpCommand(app, commands);
  AddCompletionCommand(app, commands);
}

}  // namespace profiler::cli
