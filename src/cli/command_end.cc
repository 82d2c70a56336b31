#include "src/cli/command_end.h"

#include <signal.h>
#include <sys/resource.h>

#include "src/cli/command.h"

namespace profiler::cli {

int EndAsTheCommand(const std::optional<target::Command::End>& command) {
  if (!command || command->ended_by_us) return kExitOk;
  if (command->signal == 0) return command->exit_code;
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(command->signal, SIG_DFL);
  raise(command->signal);
  return 128 + command->signal;
}

}  // namespace profiler::cli
