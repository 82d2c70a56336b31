// profiler doctor

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ringbuf/kernel.h"
#include "src/cli/command.h"
#include "src/cli/recording/target_arguments.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/terminal.h"
#include "src/doctor/machine_findings.h"
#include "src/doctor/print_findings.h"
#include "src/doctor/process_findings.h"
#include "src/machine/procfs/machine.h"
#include "src/machine/target/child_command.h"
#include "src/profile/naming/naming_here.h"

namespace profiler::cli {
namespace {

constexpr size_t kColumns = 80;  // columns of a text that is not for a terminal

struct DoctorArguments {
  std::string processes;
  bool json = false;
  bool commands = false;
};

std::string MachineTitle(const procfs::Roots& roots) {
  const procfs::MachineFacts machine = procfs::ReadMachineFacts(roots);
  return absl::StrCat("Linux ", machine.osrelease, ", ", machine.arch, ", ", machine.cpus_online,
                      machine.cpus_online == 1 ? " CPU" : " CPUs", ", as ",
                      geteuid() == 0 ? "root" : "an ordinary user");
}

int Doctor(const DoctorArguments& arguments, const std::vector<std::string>& command) {
  const procfs::Roots roots;
  std::vector<doctor::FindingGroup> groups = doctor::FindOnMachine(
      ringbuf::LinuxKernel(), roots, doctor::FindFilteredCalls(roots), naming::TryNaming());
  const bool loads_programs = doctor::IsWorking(groups, "bpf");
  if (!arguments.processes.empty()) {
    const auto targets = ReadTargets({.processes = arguments.processes}, "examine", {});
    if (!targets.ok()) {
      PrintError(targets.status());
      return kExitFailure;
    }
    for (const pid_t pid : targets->pids) {
      auto group = doctor::FindInProcess(roots, pid, loads_programs, {});
      if (!group.ok()) {
        PrintError(group.status());
        return kExitFailure;
      }
      groups.push_back(*std::move(group));
    }
  }
  if (!command.empty()) {
    const auto program = target::FindProgram(command.front());
    if (!program.ok()) {
      PrintError(program.status());
      return kExitFailure;
    }
    auto group = doctor::FindInProgram(*program, {});
    if (!group.ok()) {
      PrintError(group.status());
      return kExitFailure;
    }
    groups.push_back(*std::move(group));
  }

  Output output("-");
  if (arguments.json) {
    output.WriteBytes(doctor::FindingsJson(groups));
  } else if (arguments.commands) {
    output.Write(doctor::CommandsText(groups));
  } else {
    const size_t columns = StyleOfStandardOutput().columns;
    output.Write(absl::StrCat(MachineTitle(roots), "\n\n",
                              doctor::FindingsText(groups, columns == 0 ? kColumns : columns)));
  }
  const absl::Status closed = output.Close();
  if (!closed.ok()) PrintError(closed);
  return closed.ok() ? kExitOk : kExitFailure;
}

}  // namespace

void AddDoctorCommand(usage::Command& app, Commands& commands, Invocation invocation) {
  usage::Command& command = app.AddCommand(
      "doctor", "Show what can be recorded here, what cannot, and what would lift each limit");
  command.SetRunsProgram();
  auto arguments = std::make_shared<DoctorArguments>();
  DoctorArguments& a = *arguments;
  command.AddOption("-p,--pid", a.processes, "also examine these processes: ids or names")
      .ValueName("PID");
  command.AddFlag("--commands", a.commands, "print only the commands that lift limits");
  command.AddFlag("--json", a.json, "print JSON");
  commands[&command] = [arguments, &command, invocation] {
    const auto program = CommandOf(command, invocation);
    if (!program.ok()) {
      PrintError(program.status());
      return kExitUsage;
    }
    return Doctor(*arguments, *program);
  };
}

}  // namespace profiler::cli
