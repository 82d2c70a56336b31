// The sub-commands. Each adds itself and its options to the app; main runs the one that was named.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "src/base/status.h"

namespace profiler::cli {

// Runs a sub-command whose options have been read; the exit code. Reports its own errors, one line
// each.
using RunCommand = std::function<int()>;
using Commands = std::map<CLI::App*, RunCommand>;

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

// How the program was started. CLI11 reads only what stands before the first `--`.
struct Invocation {
  std::vector<std::string> cmdline;  // all of argv, for the recording's header
  std::vector<std::string> command;  // what stands behind the first `--`
};

// The command to run below `subcommand`, which takes one: what stands behind its options and behind
// `--`. kInvalidArgument for an option that it does not have.
absl::StatusOr<std::vector<std::string>> CommandOf(const CLI::App& subcommand,
                                                   const Invocation& invocation);

void AddRecordCommand(CLI::App& app, Commands& commands, Invocation invocation);
void AddStatCommand(CLI::App& app, Commands& commands, Invocation invocation);
void AddReportCommand(CLI::App& app, Commands& commands);
void AddDiffCommand(CLI::App& app, Commands& commands, Invocation invocation);
void AddScriptCommand(CLI::App& app, Commands& commands);
void AddConvertCommand(CLI::App& app, Commands& commands);
void AddSummaryCommand(CLI::App& app, Commands& commands);
void AddOpenCommand(CLI::App& app, Commands& commands);
void AddExportCommand(CLI::App& app, Commands& commands);
void AddArchiveCommand(CLI::App& app, Commands& commands);
void AddImportCommand(CLI::App& app, Commands& commands);
void AddDumpCommand(CLI::App& app, Commands& commands);
void AddSymbolizeCommand(CLI::App& app, Commands& commands);
void AddAnnotateCommand(CLI::App& app, Commands& commands);
void AddEvlistCommand(CLI::App& app, Commands& commands);
void AddBuildIdListCommand(CLI::App& app, Commands& commands);
void AddListCommand(CLI::App& app, Commands& commands);
void AddProgramCommands(CLI::App& app, Commands& commands);     // version, help and completion
void AddFlameGraphCommands(CLI::App& app, Commands& commands);  // flamegraph and folded

}  // namespace profiler::cli
