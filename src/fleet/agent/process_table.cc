#include "src/fleet/agent/process_table.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/machine/procfs/process_file.h"

namespace profiler::agent {
namespace {

constexpr uint32_t kWindowsKept = 2;
constexpr size_t kMostKnown = 1024;
// The parent of all kernel threads. In a PID namespace, this id belongs to another process.
constexpr uint32_t kKernelThreads = 2;
constexpr std::string_view kKernelThreadsName = "kthreadd";

}  // namespace

ProcessTable::ProcessTable(procfs::Roots roots)
    : roots_(std::move(roots)),
      kernel_(std::make_shared<const WorkloadNames>(WorkloadNames{.service = "kernel"})),
      sees_kernel_threads_(procfs::ReadLine(absl::StrCat(roots_.proc, "/", kKernelThreads,
                                                         "/comm")) == kKernelThreadsName) {}

bool ProcessTable::IsOfKernel(uint32_t pid) const {
  return pid == 0 || (sees_kernel_threads_ && pid == kKernelThreads);
}

// The records of one pass come ring by ring, so the exec of a process may come before its fork.
void ProcessTable::Began(uint32_t pid, uint32_t parent) {
  const std::lock_guard lock(mutex_);
  const auto found = processes_.find(parent);
  Names names = found == processes_.end() ? nullptr : found->second.names;
  if (sees_kernel_threads_ && parent == kKernelThreads) names = kernel_;
  const auto [child, is_new] = processes_.try_emplace(pid);
  if (is_new || child->second.ended) child->second = {.names = names};
}

void ProcessTable::Runs(uint32_t pid) {
  const Names names = Read(pid);
  const std::lock_guard lock(mutex_);
  Process& process = processes_[pid];
  process.ended = false;
  if (names != nullptr && process.names != kernel_) process.names = names;
}

void ProcessTable::Ended(uint32_t pid) {
  const std::lock_guard lock(mutex_);
  if (const auto found = processes_.find(pid); found != processes_.end()) {
    found->second.ended = true;
  }
}

ProcessTable::Names ProcessTable::Read(uint32_t pid) {
  if (IsOfKernel(pid)) return kernel_;
  std::string text;
  // Bytes. With cgroup version 1, there is a path for each hierarchy.
  constexpr size_t kMostOfGroups = 64 << 10;
  if (!procfs::ReadOfProcess(roots_, pid, "cgroup", &text, kMostOfGroups).ok()) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(text); known != known_.end()) return known->second;
  if (known_.size() >= kMostKnown) {
    absl::erase_if(known_, [](const auto& known) { return known.second.use_count() == 1; });
  }
  const auto names = std::make_shared<const WorkloadNames>(NamesOfGroups(text));
  return known_.try_emplace(std::move(text), names).first->second;
}

// Reads the group of a running process again, because the process may have been moved.
WorkloadNames ProcessTable::NamesOf(uint32_t pid) {
  Names names;
  bool may_run = true;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = processes_.find(pid); found != processes_.end()) {
      names = found->second.names;
      may_run = !found->second.ended && names != kernel_;
    }
  }
  if (may_run) {
    if (const Names now = Read(pid); now != nullptr) names = now;
  }
  return names == nullptr ? WorkloadNames() : *names;
}

void ProcessTable::ForgetEnded() {
  const std::lock_guard lock(mutex_);
  absl::erase_if(processes_, [](auto& process) {
    return process.second.ended && ++process.second.age >= kWindowsKept;
  });
}

size_t ProcessTable::size() const {
  const std::lock_guard lock(mutex_);
  return processes_.size();
}

}  // namespace profiler::agent
