#include "src/record/thread_states.h"

#include <seccomp.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace profiler::record {
namespace {

// Prefixes of the kernel functions of system calls, by architecture and kind of entry:
// SYSCALL_DEFINE in arch/*/include/asm/syscall_wrapper.h, Linux 6.18. Some of these functions only
// jump to an internal function (ksys_), and leave no frame.
constexpr std::string_view kCallPrefixes[] = {"__x64_sys_",          "__ia32_sys_",
                                              "__ia32_compat_sys_",  "__arm64_sys_",
                                              "__arm64_compat_sys_", "ksys_"};

std::string NameOfCall(int64_t number) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number)), &std::free);
  return name == nullptr ? absl::StrCat("system call ", number) : name.get();
}

// Returns the name of the system call in which the thread was blocked.
std::string NameOf(const KernelEntry& entry, const symbolize::SymbolTable* symbols) {
  if (entry.system_call != kNoCall) return NameOfCall(entry.system_call);
  if (entry.addresses[0] == 0) return "unknown";
  if (symbols == nullptr) return "the kernel";
  std::string_view outermost;
  for (const uint64_t address : entry.addresses) {
    const symbolize::Symbol* symbol = address == 0 ? nullptr : symbols->Find(address - 1);
    if (symbol == nullptr) continue;
    const std::string_view name = symbols->RawName(*symbol);
    for (const std::string_view prefix : kCallPrefixes) {
      if (name.starts_with(prefix)) return std::string(name.substr(prefix.size()));
    }
    if (name.find("page_fault") != std::string_view::npos) return "page fault";
    if (outermost.empty()) outermost = name;
  }
  return outermost.empty() ? "the kernel" : std::string(outermost);
}

std::vector<std::pair<std::string, uint64_t>> CallsOf(const BlockedTimes& blocked,
                                                      const symbolize::SymbolTable* kernel) {
  std::map<std::string, uint64_t> sums;
  for (const auto& [entry, time] : blocked) sums[NameOf(entry, kernel)] += time;
  std::vector<std::pair<std::string, uint64_t>> calls(sums.begin(), sums.end());
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return calls;
}

}  // namespace

RunDelays ReadRunDelays(const procfs::Roots& roots, const std::vector<ThreadTimes>& threads) {
  RunDelays delays;
  for (const ThreadTimes& thread : threads) {
    if (thread.has_ended) continue;
    const auto line = procfs::ReadLine(
        absl::StrCat(roots.proc, "/", thread.pid, "/task/", thread.tid, "/schedstat"));
    if (!line) continue;
    procfs::TextScanner scanner(*line);  // time on a CPU, time on run queues, number of time slices
    scanner.Word();
    if (const auto delay = procfs::ParseNumber<uint64_t>(scanner.Word())) {
      delays[thread.tid] = *delay;
    }
  }
  return delays;
}

void LeaveOut(const RunDelays& paused, const RunDelays& resumed, RunDelays* before) {
  for (const auto& [tid, delay] : resumed) {
    const auto at_pause = paused.find(tid);
    (*before)[tid] += delay - (at_pause == paused.end() ? 0 : at_pause->second);
  }
}

ThreadStates SumStates(const OffCpuStage& stage, const RunDelays& before, const RunDelays& after,
                       const symbolize::SymbolTable* kernel) {
  ThreadStates states;
  for (const ThreadTimes& thread : stage.threads().times()) {
    ++states.threads;
    states.running += thread.running;
    states.preempted += thread.preempted;
    states.blocked += thread.blocked;
    states.unknown += thread.unknown;
    states.without_stack += thread.without_stack;
    states.estimated += thread.estimated;
    states.switches += thread.times_off;
    states.sampled += thread.stacks_sampled;
    const auto at_end = after.find(thread.tid);
    if (at_end == after.end() || thread.has_ended) continue;
    const auto at_begin = before.find(thread.tid);
    const uint64_t delay = at_end->second - (at_begin == before.end() ? 0 : at_begin->second);
    // A thread waits on a run queue after it was preempted and after it was blocked; only the
    // latter counts here.
    const uint64_t awakened = delay - std::min(delay, thread.preempted);
    states.awakened += std::min(awakened, thread.blocked);
  }
  states.calls = CallsOf(stage.blocked(), kernel);
  return states;
}

}  // namespace profiler::record
