// The sub-commands. Each adds itself and its options to the app; main runs the one that was given.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/cli/usage/command_line.h"

namespace profiler::cli {

// A function that runs a sub-command after its options were read. The function prints errors
// itself, one line each, and returns the exit code.
using RunCommand = std::function<int()>;
using Commands = std::map<usage::Command*, RunCommand>;

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

// The words that the program was started with. The parser reads only the words before the first
// `--`.
struct Invocation {
  std::vector<std::string> cmdline;  // all of argv, for the recording's header
  std::vector<std::string> command;  // the words after the first `--`
};

// Returns the command to run below `subcommand`: the words after its options and after `--`.
// Returns kInvalidArgument for an unknown option.
absl::StatusOr<std::vector<std::string>> CommandOf(const usage::Command& subcommand,
                                                   const Invocation& invocation);

void AddAgentCommand(usage::Command& app, Commands& commands);
void AddRecordCommand(usage::Command& app, Commands& commands, Invocation invocation);
void AddStatCommand(usage::Command& app, Commands& commands, Invocation invocation);
void AddDoctorCommand(usage::Command& app, Commands& commands, Invocation invocation);
void AddReportCommand(usage::Command& app, Commands& commands);
void AddDiffCommand(usage::Command& app, Commands& commands, Invocation invocation);
void AddScriptCommand(usage::Command& app, Commands& commands);
void AddConvertCommand(usage::Command& app, Commands& commands);
void AddSummaryCommand(usage::Command& app, Commands& commands);
void AddOpenCommand(usage::Command& app, Commands& commands);
void AddExportCommand(usage::Command& app, Commands& commands);
void AddArchiveCommand(usage::Command& app, Commands& commands);
void AddImportCommand(usage::Command& app, Commands& commands);
void AddQueryCommand(usage::Command& app, Commands& commands);
void AddDumpCommand(usage::Command& app, Commands& commands);
void AddSymbolizeCommand(usage::Command& app, Commands& commands);
void AddAnnotateCommand(usage::Command& app, Commands& commands);
void AddEvlistCommand(usage::Command& app, Commands& commands);
void AddBuildIdListCommand(usage::Command& app, Commands& commands);
void AddListCommand(usage::Command& app, Commands& commands);
void AddFleetCommand(usage::Command& app, Commands& commands);
void AddPushCommand(usage::Command& app, Commands& commands);
void AddProgramCommands(usage::Command& app, Commands& commands);  // version, help and completion
void AddFlameGraphCommands(usage::Command& app, Commands& commands);  // flamegraph and folded

// The views and tools in the order of `profiler --help`. A new one needs a file NAME_command.cc of
// its own, a declaration above and a line here.
using AddCommand = void (*)(usage::Command& app, Commands& commands);
inline constexpr AddCommand kViewsAndTools[] = {
    AddSummaryCommand,   AddReportCommand,  AddFlameGraphCommands, AddAnnotateCommand,
    AddScriptCommand,    AddOpenCommand,    AddExportCommand,      AddImportCommand,
    AddQueryCommand,     AddConvertCommand, AddArchiveCommand,     AddDumpCommand,
    AddSymbolizeCommand, AddEvlistCommand,  AddBuildIdListCommand, AddListCommand,
    AddAgentCommand,     AddFleetCommand,   AddPushCommand,        AddProgramCommands,
};

}  // namespace profiler::cli
