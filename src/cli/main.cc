// profiler: a sampling profiler for Linux.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "src/base/write_signals.h"
#include "src/cli/commands.h"
#include "src/cli/output.h"
#include "src/cli/parse_error.h"
#include "src/cli/terminal.h"
#include "src/cli/version.h"

namespace {

// Without the list of options that an option excludes: that each is the other's opposite is plain.
class HelpFormatter : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string all = CLI::Formatter::make_option_opts(option);
    return all.substr(0, all.find(" Excludes:"));
  }
};

// The parser takes the word behind an option that may have a value for that. perf takes only what
// stands behind a `=`, so that `record --switch-output ls` records ls.
std::vector<const char*> WithValues(std::span<char* const> arguments) {
  static constexpr std::pair<std::string_view, const char*> kWithout[] = {
      {"--switch-output", "--switch-output=signal"}};
  std::vector<const char*> result(arguments.begin(), arguments.end());
  for (const char*& argument : result) {
    for (const auto& [option, with_value] : kWithout) {
      if (argument == option) argument = with_value;
    }
  }
  return result;
}

// They may stand behind the name of the command as well, but for those that run another command,
// which has options of its own.
void AddTerminalOptions(CLI::App& app, const profiler::cli::Commands& commands,
                        profiler::cli::TerminalChoice& choice) {
  using profiler::cli::Colour;
  app.add_flag_callback(
      "--no-pager", [&choice] { choice.pager = false; },
      "on a terminal: do not show texts in $PROFILER_PAGER, $PAGER or less");
  app.add_option_function<std::string>(
         "--color",
         [&choice](const std::string& when) {
           choice.colour = when == "always"  ? Colour::kAlways
                           : when == "never" ? Colour::kNever
                                             : Colour::kAuto;
         },
         "percentages in colours: auto (on a terminal, unless $NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""));
  for (const auto& [command, run] : commands) {
    if (!command->get_prefix_command()) command->fallthrough();
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace profiler::cli;
  profiler::IgnoreWriteSignals();
  CLI::App app(
      "A sampling profiler for Linux: records where programs spend their time and shows it.\n"
      "Recordings are perf.data files, which perf and other viewers open; theirs open here.",
      "profiler");
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.set_version_flag("--version", VersionText());
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  Invocation invocation;
  invocation.cmdline.assign(argv, end);
  invocation.command.assign(std::min(dashes + 1, end), end);
  Commands commands;
  AddCommands(app, commands, invocation);
  TerminalChoice terminal;
  AddTerminalOptions(app, commands, terminal);

  try {
    const std::vector<const char*> arguments = WithValues({argv, dashes});
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    PrintError(ExplainParseError(app, argc > 1 ? argv[1] : "", error.what()));
    return kExitUsage;
  }
  ChooseTerminal(terminal);
  for (const auto& [command, run] : commands) {
    if (command->parsed()) return run();
  }
  return kExitUsage;
}
