// profiler: a sampling profiler for Linux.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/file_access.h"
#include "src/base/file_systems.h"
#include "src/base/raised_capabilities.h"
#include "src/base/status.h"
#include "src/base/unlink_on_signal.h"
#include "src/base/write_signals.h"
#include "src/cli/command.h"
#include "src/cli/commands.h"
#include "src/cli/config/config_command.h"
#include "src/cli/config/config_words.h"
#include "src/cli/live/top_command.h"
#include "src/cli/parse_error.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/terminal.h"
#include "src/cli/usage/command_line.h"
#include "src/cli/version.h"
#include "src/machine/reader/patient_files.h"

namespace {

// Adds a value to options that were given without their optional value. Otherwise the parser would
// take the next word as the value. As in perf, an optional value must follow a `=`. So `record
// --switch-output ls` records ls.
std::vector<std::string> WithValues(std::span<char* const> arguments) {
  static constexpr std::pair<std::string_view, const char*> kWithout[] = {
      {"--switch-output", "--switch-output=signal"}};
  std::vector<std::string> result(arguments.begin(), arguments.end());
  for (std::string& argument : result) {
    for (const auto& [option, with_value] : kWithout) {
      if (argument == option) argument = with_value;
    }
  }
  return result;
}

// Adds the options for the pager, for colours and for the configuration file. They are also accepted
// after a command's name, except for commands that run another program, because that program has
// its own options.
void AddGeneralOptions(profiler::usage::Command& app, const profiler::cli::Commands& commands,
                       profiler::cli::TerminalChoice& choice, bool& no_config) {
  using profiler::cli::Colour;
  app.AddFlag("--no-config", no_config, "do not read the configuration file");
  app.AddFlag(
      "--no-pager", [&choice] { choice.pager = false; },
      "on a terminal: do not show long output in $PROFILER_PAGER, $PAGER or less");
  app.AddOption(
         "--color",
         [&choice](const std::string& when) {
           choice.colour = when == "always"  ? Colour::kAlways
                           : when == "never" ? Colour::kNever
                                             : Colour::kAuto;
           return absl::OkStatus();
         },
         "show percentages in colours: auto (on a terminal, unless $NO_COLOR is set), always or "
         "never")
      .ValueName("WHEN")
      .OneOf({"auto", "always", "never"}, profiler::usage::InHelp::kNo);
  for (const auto& [command, run] : commands) {
    if (!command->RunsProgram()) command->AcceptProgramOptions();
  }
}

constexpr char kNoMemory[] =
    "out of memory; select less data (--time, fewer events), or raise the limit (ulimit -v, or the "
    "limit of the control group)";

// Ends the program if an exception escapes from another thread. Allocates nothing.
[[noreturn]] void EndWithoutMemory() {
  const std::exception_ptr thrown = std::current_exception();
  bool is_out_of_memory = false;
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    is_out_of_memory = true;
  } catch (const std::length_error&) {
    is_out_of_memory = true;
  } catch (...) {
  }
  if (!is_out_of_memory) std::abort();
  constexpr std::string_view kParts[] = {"profiler: ", kNoMemory, "\n"};
  for (const std::string_view part : kParts) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, part.data(), part.size());
  }
  profiler::UnlinkAllNow();
  std::_Exit(profiler::cli::kExitFailure);
}

// The program's commands and options, and their values after Parse.
struct Program {
  explicit Program(const profiler::cli::Invocation& invocation) {
    app.RequireCommand();
    app.SetVersion(profiler::cli::VersionText());
    AddCommands(app, commands, invocation);
    AddTopCommand(app, commands, invocation);
    profiler::cli::AddConfigCommand(app, commands);
    AddGeneralOptions(app, commands, terminal, no_config);
  }

  profiler::usage::Parsed Parse(std::vector<std::string> words) {
    return app.Parse(std::move(words), profiler::cli::HelpColumns());
  }

  // Returns the command that was given; null without one.
  const profiler::cli::Commands::value_type* Given() const {
    for (const auto& entry : commands) {
      if (entry.first->WasGiven()) return &entry;
    }
    return nullptr;
  }

  profiler::usage::Command app{
      "profiler",
      "A sampling profiler for Linux: records where programs spend their time and shows it.\n"
      "Recordings are perf.data files, which perf and other viewers open. This program also opens "
      "recordings of perf."};
  profiler::cli::Commands commands;
  profiler::cli::TerminalChoice terminal;
  bool no_config = false;
};

// Parses the words again, with the options that the configuration file adds to the given command.
// `note` gets a line about them, for a user who has typed no such option. Errors: those of
// ReadConfigFile; kInvalidArgument for settings that the command does not accept.
absl::Status ApplyConfig(const profiler::cli::Invocation& invocation,
                         const std::vector<std::string>& words, std::unique_ptr<Program>& program,
                         std::string* note) {
  using namespace profiler;
  const cli::Commands::value_type* const given = program->Given();
  if (program->no_config || given == nullptr) return absl::OkStatus();
  PROFILER_ASSIGN_OR_RETURN(
      const config::AddedWords added,
      config::AddConfigWords(*given->first, program->app.GivenOptions(), words));
  for (const std::string& warning : added.warnings) cli::PrintWarning(warning);
  if (added.options.empty()) return absl::OkStatus();
  program = std::make_unique<Program>(invocation);
  if (program->Parse(added.With(words)).kind == usage::Parsed::Kind::kCommand) {
    *note = added.Note();
    return absl::OkStatus();
  }
  // Looks for the setting that is refused.
  for (size_t i = 0; i < added.options.size(); ++i) {
    const usage::Parsed alone = Program(invocation).Parse(added.With(words, i));
    if (alone.kind == usage::Parsed::Kind::kError) return added.Refused(i, alone.text);
  }
  return added.Refused(0, "it does not go together with the other settings");
}

int Run(int argc, char** argv) {
  using namespace profiler::cli;
  using profiler::usage::Parsed;
  profiler::LowerCapabilities();
  profiler::IgnoreWriteSignals();
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  Invocation invocation;
  invocation.cmdline.assign(argv, end);
  invocation.command.assign(std::min(dashes + 1, end), end);
  const std::vector<std::string> words = WithValues({std::min(argv + 1, dashes), dashes});
  auto program = std::make_unique<Program>(invocation);
  const Parsed parsed = program->Parse(words);
  if (parsed.kind == Parsed::Kind::kAnswer) {
    ChooseTerminal(program->terminal);
    Output output("-");
    output.Write(parsed.text);
    return output.Close().ok() ? kExitOk : kExitFailure;
  }
  if (parsed.kind == Parsed::Kind::kError) {
    PrintError(ExplainParseError(program->app, argc > 1 ? argv[1] : "", parsed.text));
    return kExitUsage;
  }
  std::string note;
  if (const absl::Status status = ApplyConfig(invocation, words, program, &note); !status.ok()) {
    PrintError(status);
    return kExitUsage;
  }
  ChooseTerminal(program->terminal);
  profiler::WarnOfUnknownFileSystems(PrintWarning);
  profiler::reader::PatientFiles files;
  profiler::AccessFilesThrough(&files);
  const auto* const given = program->Given();
  if (given == nullptr) return kExitUsage;
  const int exit_code = given->second();
  for (const std::string& warning : files.TakeNotes()) PrintWarning(warning);
  if (exit_code == kExitUsage && !note.empty()) PrintNote(note);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(EndWithoutMemory);
  // Unwinding removes incomplete outputs.
  try {
    return Run(argc, argv);
  } catch (const std::bad_alloc&) {
    profiler::cli::PrintError(kNoMemory);
  } catch (const std::length_error&) {
    profiler::cli::PrintError(kNoMemory);
  }
  return profiler::cli::kExitFailure;
}
