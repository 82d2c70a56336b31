#include "src/cli/perf_commands.h"

namespace profiler::cli {
namespace {

struct PerfCommand {
  std::string_view name;
  std::string_view instead;
};

constexpr PerfCommand kPerfCommands[] = {
    {"bench", "measure the machine with perf bench"},
    {"buildid-cache", "name the files of images with --symfs or --debug-dir; see docs/names.md"},
    {"c2c",
     "record memory accesses with perf mem record, and show them with profiler report --mem-mode "
     "-s symbol_daddr,symbol"},
    {"daemon", "profiler agent records a machine all the time"},
    {"data", "profiler export writes other formats, and profiler convert writes recordings anew"},
    {"ftrace", "record tracepoints with profiler record -e SYSTEM:NAME, or run trace-cmd"},
    {"inject",
     "profiler report names JIT-compiled code without it, and profiler archive adds names to a "
     "recording"},
    {"iostat", "run iostat of the package sysstat, or profiler record --off-cpu to see who waits"},
    {"kmem", "run profiler record -g -e kmem:kmalloc, then profiler report"},
    {"kvm", "run profiler record -a, which also samples the processes of virtual machines"},
    {"lock",
     "run profiler record --off-cpu, which shows where threads wait, or profiler record -g -e "
     "lock:contention_begin"},
    {"mem",
     "record memory accesses with perf mem record, and show them with profiler report --mem-mode"},
    {"probe", "pass the function to record: profiler record -e PROGRAM:FUNCTION"},
    {"sched",
     "run profiler record --off-cpu, which shows how long threads wait and where, or profiler "
     "record -a -e sched:sched_switch"},
    {"timechart", "run profiler record --wall-clock, then profiler export -o FILE.trace.json"},
    {"trace", "run strace -f, or profiler record -e raw_syscalls:sys_enter and profiler script"},
};

}  // namespace

std::string_view InsteadOfPerfCommand(std::string_view command) {
  for (const PerfCommand& entry : kPerfCommands) {
    if (entry.name == command) return entry.instead;
  }
  return "";
}

}  // namespace profiler::cli
