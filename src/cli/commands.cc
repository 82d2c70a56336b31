#include "src/cli/commands.h"

namespace profiler::cli {

namespace {

using AddCommand = void (*)(CLI::App& app, Commands& commands);

// A new view is a file of its own and a line here.
constexpr AddCommand kViewsAndTools[] = {
    AddReportCommand,  AddFlameGraphCommands, AddAnnotateCommand, AddScriptCommand,
    AddConvertCommand, AddArchiveCommand,     AddDumpCommand,     AddSymbolizeCommand,
};

}  // namespace

void AddCommands(CLI::App& app, Commands& commands, const Invocation& invocation) {
  AddRecordCommand(app, commands, invocation);
  for (const AddCommand add : kViewsAndTools) add(app, commands);
}

}  // namespace profiler::cli
