#include "src/record/shared_memory.h"

#include <linux/kcmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"
#include "src/machine/procfs/tasks.h"

namespace profiler::record {
namespace {

using perf_event::RawRecord;

// Limit for the number of relatives that are compared with a process. If it has more, the further
// relatives count as not sharing its memory.
constexpr size_t kMostAsked = 64;

}  // namespace

bool HaveSameMemory(const std::string& proc, uint32_t a, uint32_t b) {
  if (syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) != 0) return false;
  // Ended processes have no memory, and kcmp(2) calls two of them equal.
  procfs::Roots roots;
  roots.proc = proc;
  return procfs::ThreadLives(roots, static_cast<pid_t>(a)) &&
         procfs::ThreadLives(roots, static_cast<pid_t>(b));
}

void SharedMemory::Observe(RawRecord record) {
  perf_event::Task task;
  if (record.type() != perf_event::kRecordFork || !Decode(record, layout_, &task)) return;
  if (task.pid == task.tid) Began(task.pid, task.ppid);
}

void SharedMemory::Take(RawRecord record, std::vector<std::byte>* out) {
  switch (record.type()) {
    case perf_event::kRecordFork: {
      perf_event::Task task;
      if (Decode(record, layout_, &task) && task.pid != task.ppid) Began(task.pid, task.ppid);
      return;
    }
    case perf_event::kRecordComm: {
      perf_event::Comm comm;
      const bool by_exec = (record.misc() & perf_event::kMiscCommExec) != 0;
      if (by_exec && Decode(record, layout_, &comm)) Left(comm.pid);
      return;
    }
    case perf_event::kRecordExit: {
      perf_event::Task task;
      if (Decode(record, layout_, &task) && task.pid == task.tid) Left(task.pid);
      return;
    }
    case perf_event::kRecordMmap2: {
      perf_event::Mmap2 mapping;
      if (!Decode(record, layout_, &mapping) || (mapping.prot & PROT_EXEC) == 0) return;
      if (!processes_.contains(mapping.pid)) return;
      for (const uint32_t other : SharersOf(mapping.pid)) {
        mapping.pid = mapping.tid = other;
        Encode(record.type(), record.misc(), layout_, mapping, out);
      }
      return;
    }
    default:
      return;
  }
}

void SharedMemory::Began(uint32_t pid, uint32_t parent) {
  Left(pid);
  if (parent == 0 || parent == pid) return;
  processes_[pid].parent = parent;
  processes_[parent].children.push_back(pid);
}

// Removes a process that has ended, or that executes another program in a memory of its own.
void SharedMemory::Left(uint32_t pid) {
  const auto left = processes_.find(pid);
  if (left == processes_.end()) return;
  const Process process = std::move(left->second);
  processes_.erase(left);
  if (const auto parent = processes_.find(process.parent); parent != processes_.end()) {
    std::erase(parent->second.children, pid);
    parent->second.shares.erase(pid);
  }
  for (const uint32_t child : process.children) {
    const auto found = processes_.find(child);
    if (found == processes_.end()) continue;
    found->second.parent = 0;
    found->second.shares.erase(pid);
  }
}

bool SharedMemory::Share(uint32_t a, uint32_t b) {
  const auto [known, is_new] = processes_[a].shares.try_emplace(b);
  if (is_new) {
    known->second = same_(a, b);
    const bool shared = known->second;
    processes_[b].shares[a] = shared;
    return shared;
  }
  return known->second;
}

std::vector<uint32_t> SharedMemory::SharersOf(uint32_t pid) {
  std::vector<uint32_t> found{pid};
  size_t asked = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto at = processes_.find(found[i]);
    if (at == processes_.end()) continue;
    std::vector<uint32_t> relatives = at->second.children;
    if (at->second.parent != 0) relatives.push_back(at->second.parent);
    for (const uint32_t relative : relatives) {
      if (std::ranges::find(found, relative) != found.end()) continue;
      if (asked++ == kMostAsked) break;
      if (Share(found[i], relative)) found.push_back(relative);
    }
  }
  found.erase(found.begin());
  return found;
}

void SharedMemoryOfPasses::Take(RawRecord record) {
  switch (record.type()) {
    case perf_event::kRecordFork:
    case perf_event::kRecordComm:
    case perf_event::kRecordExit:
    case perf_event::kRecordMmap2:
      taken_.push_back(
          {perf_event::TimeOf(record, layout_), {record.bytes().begin(), record.bytes().end()}});
      break;
    default:
      break;
  }
}

std::span<const std::byte> SharedMemoryOfPasses::EndPass() {
  added_.clear();
  std::ranges::stable_sort(taken_, {}, &Taken::time);
  for (const Taken& taken : taken_) shared_.Take(RawRecord(taken.bytes), &added_);
  taken_.clear();
  return added_;
}

}  // namespace profiler::record
