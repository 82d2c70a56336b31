// The sub-commands. Each adds itself and its options to the app; main runs the one that was named.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace profiler::cli {

// Runs a sub-command whose options have been read; the exit code. Reports its own errors, one line
// each.
using RunCommand = std::function<int()>;
using Commands = std::map<CLI::App*, RunCommand>;

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

// `cmdline`: argv as the program was started with, for the recording's header.
void AddRecordCommand(CLI::App& app, Commands& commands, std::vector<std::string> cmdline);
void AddReportCommand(CLI::App& app, Commands& commands);
void AddScriptCommand(CLI::App& app, Commands& commands);
void AddFlameGraphCommands(CLI::App& app, Commands& commands);  // flamegraph and folded

}  // namespace profiler::cli
