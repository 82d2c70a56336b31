// profiler record

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/cli/record_once.h"
#include "src/cli/record_options.h"

namespace profiler::cli {
namespace {

void PrintNeedless(const RecordArguments& arguments) {
  for (const NeedlessOption& needless : arguments.needless) {
    if (needless.option->count() == 0) continue;
    PrintNote(absl::StrCat(needless.option->get_name(), " changes nothing: ", needless.why));
  }
}

int Record(const RecordArguments& arguments, record::RecordOptions options) {
  if (arguments.verbosity > 0) PrintNeedless(arguments);
  return ExitCodeOf(RecordOnce(arguments, std::move(options)));
}

}  // namespace

void AddRecordCommand(CLI::App& app, Commands& commands, Invocation invocation) {
  CLI::App* command = app.add_subcommand("record", "Record where a program spends its time");
  command->footer(
      "Then: a command to record, with its arguments: profiler record -g -- CMD ARGS…\n"
      "Without one, recording goes on until Ctrl-C, --duration or the end of the targets.");
  command->prefix_command();
  auto arguments = std::make_shared<RecordArguments>();
  AddRecordOptions(*command, *arguments);

  commands[command] = [arguments, command, invocation = std::move(invocation)] {
    if (const auto registers = ListOfRegisters(*arguments)) {
      Output output("-");
      output.Write(*registers + "\n");
      return output.Close().ok() ? kExitOk : kExitFailure;
    }
    auto options = ReadRecordOptions(*command, *arguments, invocation);
    if (!options.ok()) {
      PrintError(options.status());
      return kExitUsage;
    }
    return Record(*arguments, *std::move(options));
  };
}

}  // namespace profiler::cli
