#include "src/record/waiting_thread.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace profiler::record {
namespace {

constexpr int kAttempts = 3;

std::string FileOf(const procfs::Roots& roots, uint32_t pid, uint32_t tid, const char* name) {
  return absl::StrCat(roots.proc, "/", pid, "/task/", tid, "/", name);
}

// Returns the number of times that the thread has left its CPU; nothing if it runs or has ended.
std::optional<uint64_t> SwitchesOfWaiting(const procfs::Roots& roots, uint32_t pid, uint32_t tid,
                                          std::string* text) {
  if (!procfs::ReadFile(FileOf(roots, pid, tid, "status"), text).ok()) return std::nullopt;
  // States of a waiting thread: sleeping, in uninterruptible sleep, stopped, traced. Source:
  // include/linux/sched.h, fs/proc/array.c.
  constexpr std::string_view kWaits = "SDTt";
  const auto state = procfs::ValueOf(*text, "State");
  if (!state || state->empty() || kWaits.find(state->front()) == kWaits.npos) return std::nullopt;
  uint64_t switches = 0;
  for (const std::string_view key : {"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"}) {
    const auto value = procfs::ValueOf(*text, key);
    const auto count = value ? procfs::ParseNumber<uint64_t>(*value) : std::nullopt;
    if (!count) return std::nullopt;
    switches += *count;
  }
  return switches;
}

}  // namespace

std::optional<WaitingThread> ReadWaitingThread(const procfs::Roots& roots, uint32_t pid,
                                               uint32_t tid) {
  const auto line = procfs::ReadLine(FileOf(roots, pid, tid, "syscall"));
  if (!line) return std::nullopt;
  std::vector<std::string_view> words;
  for (procfs::TextScanner scanner(*line); !scanner.done();) words.push_back(scanner.Word());
  if (words.size() < 3) return std::nullopt;
  const auto number = [](std::string_view word) {
    if (word.starts_with("0x")) word.remove_prefix(2);
    return procfs::ParseNumber<uint64_t>(word, 16);
  };
  const auto call = procfs::ParseNumber<int64_t>(words.front());
  const auto sp = number(words[words.size() - 2]);
  const auto pc = number(words.back());
  if (!call || !sp || !pc) return std::nullopt;
  WaitingThread thread{.system_call = *call, .sp = *sp, .pc = *pc};
  if (words.size() != thread.arguments.size() + 3) return thread;
  for (size_t i = 0; i < thread.arguments.size(); ++i) {
    const auto argument = number(words[i + 1]);
    if (!argument) return std::nullopt;
    thread.arguments[i] = *argument;
  }
  return thread;
}

bool ReadWaitingStack(const procfs::Roots& roots, uint32_t pid, uint32_t tid, size_t most,
                      MemoryCopy copy, WaitingStack* stack) {
  std::string text;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto before = SwitchesOfWaiting(roots, pid, tid, &text);
    if (!before) return false;
    const auto thread = ReadWaitingThread(roots, pid, tid);
    if (!thread) continue;
    if (thread->pc == 0) return false;  // a kernel thread
    stack->thread = *thread;
    stack->bytes.resize(most);
    stack->bytes.resize(copy(thread->sp, stack->bytes));
    const auto again = ReadWaitingThread(roots, pid, tid);
    if (again == thread && SwitchesOfWaiting(roots, pid, tid, &text) == before) return true;
  }
  return false;
}

}  // namespace profiler::record
