#include "src/views/report/task_tree.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"

namespace profiler::report {
namespace {

using perf_data::TimedRecord;
using perf_event::RecordLayout;

constexpr uint32_t kProtRead = 1, kProtWrite = 2, kProtExec = 4;
constexpr uint32_t kMapShared = 1;

template <class Record>
void Decoded(const TimedRecord& timed, const RecordLayout& layout, auto use) {
  Record record;
  if (Decode(timed.record, layout, &record)) use(record);
}

bool IsOfUser(const TimedRecord& timed) {
  return (timed.record.misc() & perf_event::kMiscCpumodeMask) == perf_event::kMiscUser;
}

}  // namespace

// Removes the parts of mappings inside [start, end).
void TaskTree::Unmap(uint64_t start, uint64_t end, Mappings& mappings) {
  auto next = mappings.lower_bound(start);
  if (next != mappings.begin() && std::prev(next)->second.end > start) --next;
  while (next != mappings.end() && next->first < end) {
    const auto [first, old] = *next;
    next = mappings.erase(next);
    if (first < start) {
      Mapping& before = mappings[first] = old;
      before.end = start;
    }
    if (old.end > end) {
      Mapping& behind = mappings[end] = old;
      behind.file_offset += end - first;
    }
  }
}

void TaskTree::Take(const perf_data::Recording& recording, const TimedRecord& timed) {
  if (timed.event >= recording.events().size()) return;
  const RecordLayout& layout = recording.events()[timed.event].layout;
  switch (timed.record.type()) {
    case perf_event::kRecordFork:
      return Decoded<perf_event::Task>(timed, layout, [&](const auto& fork) { Fork(fork); });
    case perf_event::kRecordComm:
      return Decoded<perf_event::Comm>(timed, layout, [&](const auto& comm) {
        const bool by_exec = (timed.record.misc() & perf_event::kMiscCommExec) != 0;
        if (by_exec) mappings_[comm.pid].clear();
        TaskOf(comm.pid, comm.tid).comm = std::string(comm.comm);
      });
    case perf_event::kRecordMmap:
      // MMAP records have no protection bits; they describe code.
      return Decoded<perf_event::Mmap>(timed, layout, [&](const auto& mmap) {
        perf_event::Mmap2 mapped{.pid = mmap.pid, .tid = mmap.tid};
        mapped.addr = mmap.addr;
        mapped.len = mmap.len;
        mapped.pgoff = mmap.pgoff;
        mapped.prot = kProtExec;
        mapped.filename = mmap.filename;
        if (IsOfUser(timed)) Map(mapped);
      });
    case perf_event::kRecordMmap2:
      return Decoded<perf_event::Mmap2>(timed, layout, [&](const auto& mmap) {
        if (IsOfUser(timed)) Map(mmap);
      });
    default:
      return;
  }
}

std::string TaskTree::Text(TaskDetails details) const {
  std::string text = absl::StrFormat("# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
  std::map<uint32_t, std::vector<uint32_t>> below;  // by parent
  std::vector<uint32_t> roots;
  for (const auto& [tid, task] : tasks_) {
    const bool has_parent = task.parent && *task.parent != tid && tasks_.contains(*task.parent);
    (has_parent ? below[*task.parent] : roots).push_back(tid);
  }
  std::set<uint32_t> seen;
  for (const uint32_t tid : roots) Append(tid, tid == 0 ? 0 : 1, below, details, seen, text);
  // Reused ids may have formed a cycle of parents, which no root reaches.
  for (const auto& [tid, task] : tasks_) Append(tid, 1, below, details, seen, text);
  return text;
}

TaskTree::Task& TaskTree::TaskOf(uint32_t pid, uint32_t tid) {
  Task& task = tasks_[tid];
  task.pid = pid;
  if (pid != tid) task.parent = pid;
  return task;
}

void TaskTree::Fork(const perf_event::Task& fork) {
  Task& task = TaskOf(fork.pid, fork.tid);
  const auto parent = tasks_.find(fork.ptid);
  if (task.comm.empty() && parent != tasks_.end()) task.comm = parent->second.comm;
  if (fork.pid == fork.ppid) return;
  task.parent = fork.ppid;
  const auto mapped = mappings_.find(fork.ppid);
  if (mapped != mappings_.end()) mappings_[fork.pid] = Mappings(mapped->second);
}

void TaskTree::Map(const perf_event::Mmap2& mmap) {
  TaskOf(mmap.pid, mmap.tid);
  const uint64_t end = mmap.addr + mmap.len;
  if (end <= mmap.addr) return;
  Mappings& mappings = mappings_[mmap.pid];
  Unmap(mmap.addr, end, mappings);
  std::string id;
  if (!mmap.build_id.empty()) {
    id = HexOf(mmap.build_id);
  } else {
    id = absl::StrCat(mmap.ino);
  }
  mappings[mmap.addr] = {.end = end,
                         .file_offset = mmap.pgoff,
                         .prot = mmap.prot,
                         .flags = mmap.flags,
                         .id = std::move(id),
                         .name = std::string(mmap.filename)};
}

void TaskTree::Append(uint32_t tid, int depth,
                      const std::map<uint32_t, std::vector<uint32_t>>& below, TaskDetails details,
                      std::set<uint32_t>& seen, std::string& text) const {
  // Limits the recursion; no thread has so many ancestors.
  constexpr int kDeepest = 500;
  if (depth > kDeepest || !seen.insert(tid).second) return;
  const Task& task = tasks_.at(tid);
  const int64_t parent = task.parent ? int64_t{*task.parent} : -1;
  absl::StrAppendFormat(&text, "  %8d %8d %8d |%*s", task.pid, tid, parent, depth, "");
  AppendPrintable(task.comm, text);
  text += '\n';
  if (details == TaskDetails::kMappings && tid == task.pid) AppendMappings(tid, depth, text);
  const auto children = below.find(tid);
  if (children == below.end()) return;
  for (const uint32_t child : children->second) {
    Append(child, depth + 1, below, details, seen, text);
  }
}

void TaskTree::AppendMappings(uint32_t pid, int depth, std::string& text) const {
  constexpr int kIndent = 32;
  const auto found = mappings_.find(pid);
  if (found == mappings_.end()) return;
  for (const auto& [start, mapping] : found->second) {
    absl::StrAppendFormat(
        &text, "%*s%x-%x %c%c%c%c %08x %s ", kIndent + depth, "", start, mapping.end,
        (mapping.prot & kProtRead) != 0 ? 'r' : '-', (mapping.prot & kProtWrite) != 0 ? 'w' : '-',
        (mapping.prot & kProtExec) != 0 ? 'x' : '-', (mapping.flags & kMapShared) != 0 ? 's' : 'p',
        mapping.file_offset, mapping.id);
    AppendPrintable(mapping.name, text);
    text += '\n';
  }
}

}  // namespace profiler::report
