#include "src/cli/commands.h"

#include "absl/strings/str_cat.h"

namespace profiler::cli {

absl::StatusOr<std::vector<std::string>> CommandOf(const usage::Command& subcommand,
                                                   const Invocation& invocation) {
  std::vector<std::string> command = subcommand.Remaining();
  if (!command.empty() && command.front().starts_with("-")) {
    return absl::InvalidArgumentError(absl::StrCat(subcommand.Name(), ": unknown option ",
                                                   command.front(), " (see profiler ",
                                                   subcommand.Name(), " --help)"));
  }
  command.insert(command.end(), invocation.command.begin(), invocation.command.end());
  return command;
}

void AddCommands(usage::Command& app, Commands& commands, const Invocation& invocation) {
  AddRecordCommand(app, commands, invocation);
  AddStatCommand(app, commands, invocation);
  AddDoctorCommand(app, commands, invocation);
  AddDiffCommand(app, commands, invocation);
  for (const AddCommand add : kViewsAndTools) add(app, commands);
}

}  // namespace profiler::cli
