#include "src/record/what_runs.h"

#include <algorithm>
#include <utility>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"

namespace profiler::record {
namespace {

using perf_event::RawRecord;

constexpr uint32_t kKernelPid = static_cast<uint32_t>(-1);
constexpr uint16_t kUnregistered = 1;  // flag of KSYMBOL
constexpr uint16_t kUnloaded = 2;      // type of BPF_EVENT

// Bytes of an entry of a map or a list, with what the allocator adds.
constexpr size_t kEntry = 64;

}  // namespace

void WhatRuns::Take(RawRecord record) {
  switch (record.type()) {
    case perf_event::kRecordMmap:
    case perf_event::kRecordMmap2:
    case perf_event::kRecordComm:
    case perf_event::kRecordFork:
    case perf_event::kRecordExit:
    case perf_event::kRecordKsymbol:
    case perf_event::kRecordBpfEvent:
    case perf_event::kRecordNamespaces:
    case perf_event::kRecordCgroup:
      taken_.push_back({perf_event::TimeOf(record, layout_),
                        Bytes(record.bytes().begin(), record.bytes().end())});
      break;
    default:
      break;
  }
}

void WhatRuns::EndPass() {
  uint64_t latest_before = 0;
  for (size_t i = 0; i < of_pass_before_; ++i) {
    latest_before = std::max(latest_before, taken_[i].time);
  }
  ApplyUntil(latest_before);
  of_pass_before_ = taken_.size();
}

void WhatRuns::ApplyUntil(uint64_t time) {
  std::stable_sort(taken_.begin(), taken_.end(),
                   [](const Taken& a, const Taken& b) { return a.time < b.time; });
  const auto later = std::find_if(taken_.begin(), taken_.end(),
                                  [time](const Taken& taken) { return taken.time > time; });
  for (auto taken = taken_.begin(); taken != later; ++taken) Apply(std::move(taken->bytes));
  taken_.erase(taken_.begin(), later);
}

void WhatRuns::Apply(Bytes bytes) {
  const RawRecord record(bytes);
  grown_ += bytes.size() + kEntry;
  switch (record.type()) {
    case perf_event::kRecordMmap:
      return Map<perf_event::Mmap>(std::move(bytes));
    case perf_event::kRecordMmap2:
      return Map<perf_event::Mmap2>(std::move(bytes));
    case perf_event::kRecordComm:
      return Name(record);
    case perf_event::kRecordFork:
      return Start(record);
    case perf_event::kRecordExit:
      return End(record);
    case perf_event::kRecordKsymbol:
      return AddSymbol(std::move(bytes));
    case perf_event::kRecordNamespaces:
      return AddNamespaces(std::move(bytes));
    case perf_event::kRecordCgroup:
      return AddCgroup(std::move(bytes));
    default:
      return AddProgram(std::move(bytes));
  }
}

void WhatRuns::Start(RawRecord record) {
  perf_event::Task task;
  if (!Decode(record, layout_, &task)) return;
  std::string name;
  const auto parent = processes_.find(task.ppid);
  if (parent != processes_.end() && parent->second.threads.contains(task.ptid)) {
    name = parent->second.threads[task.ptid];
  }
  const bool is_thread = task.pid == task.ppid;
  const bool is_synthesized = (record.misc() & perf_event::kMiscForkExec) != 0;
  if (!is_thread && !is_synthesized) {
    Process child{.parent = task.ppid};
    if (parent != processes_.end()) child.mappings = parent->second.mappings;
    grown_ += child.mappings.list.size() * sizeof(Mapping);
    processes_[task.pid] = std::move(child);
  }
  Process& process = processes_[task.pid];
  if (!is_thread) process.parent = task.ppid;
  process.threads[task.tid] = std::move(name);
}

void WhatRuns::End(RawRecord record) {
  perf_event::Task task;
  if (!Decode(record, layout_, &task)) return;
  const auto process = processes_.find(task.pid);
  if (process == processes_.end()) return;
  process->second.threads.erase(task.tid);
  namespaces_.erase(task.tid);
  if (process->second.threads.empty()) processes_.erase(process);
}

void WhatRuns::Name(RawRecord record) {
  perf_event::Comm comm;
  if (!Decode(record, layout_, &comm)) return;
  Process& process = processes_[comm.pid];
  process.threads[comm.tid] = std::string(comm.comm);
  if ((record.misc() & perf_event::kMiscCommExec) != 0) process.mappings = {};
}

template <class Record>
void WhatRuns::Map(Bytes bytes) {
  Record mapped;
  if (!Decode(RawRecord(bytes), layout_, &mapped)) return;
  const uint64_t start = mapped.addr, end = mapped.addr + mapped.len;
  Mappings& mappings = processes_[mapped.pid].mappings;
  // The mappings of a process that runs already come in the order of their addresses, so none of
  // them is searched for others that it covers.
  if (start < mappings.end && end > mappings.start) {
    std::erase_if(mappings.list,
                  [&](const Mapping& other) { return other.start >= start && other.end <= end; });
  }
  mappings.start = std::min(mappings.start, start);
  mappings.end = std::max(mappings.end, end);
  mappings.list.push_back({start, end, std::make_shared<const Bytes>(std::move(bytes))});
}

void WhatRuns::AddSymbol(Bytes bytes) {
  perf_event::Ksymbol symbol;
  if (!Decode(RawRecord(bytes), layout_, &symbol)) return;
  if ((symbol.flags & kUnregistered) != 0) {
    symbols_.erase(symbol.addr);
  } else {
    symbols_[symbol.addr] = std::move(bytes);
  }
}

void WhatRuns::AddProgram(Bytes bytes) {
  perf_event::BpfEvent event;
  if (!Decode(RawRecord(bytes), layout_, &event)) return;
  if (event.event_type == kUnloaded) {
    programs_.erase(event.id);
  } else {
    programs_[event.id] = std::move(bytes);
  }
}

void WhatRuns::AddNamespaces(Bytes bytes) {
  perf_event::Namespaces namespaces;
  if (!Decode(RawRecord(bytes), layout_, &namespaces)) return;
  namespaces_[namespaces.tid] = std::move(bytes);
}

void WhatRuns::AddCgroup(Bytes bytes) {
  perf_event::Cgroup cgroup;
  if (!Decode(RawRecord(bytes), layout_, &cgroup)) return;
  cgroups_[cgroup.id] = std::move(bytes);
}

void WhatRuns::Write(std::vector<std::byte>* out) {
  ApplyUntil(UINT64_MAX);
  of_pass_before_ = 0;
  if (const auto kernel = processes_.find(kKernelPid); kernel != processes_.end()) {
    WriteProcess(kKernelPid, kernel->second, out);
  }
  for (const auto& [address, record] : symbols_) WriteAgain<perf_event::Ksymbol>(record, out);
  for (const auto& [id, record] : programs_) WriteAgain<perf_event::BpfEvent>(record, out);
  for (const auto& [id, record] : cgroups_) WriteAgain<perf_event::Cgroup>(record, out);
  for (const auto& [pid, process] : processes_) {
    if (pid != kKernelPid) WriteProcess(pid, process, out);
  }
}

void WhatRuns::WriteProcess(uint32_t pid, const Process& process,
                            std::vector<std::byte>* out) const {
  const auto write_thread = [&](uint32_t tid, uint32_t parent, const std::string& name) {
    perf_event::Task fork;
    fork.pid = pid;
    fork.tid = tid;
    fork.ppid = fork.ptid = parent;
    // FORK_EXEC tells readers not to copy the parent's mappings, because records of all mappings
    // follow.
    Encode(perf_event::kRecordFork, perf_event::kMiscForkExec, layout_, fork, out);
    perf_event::Comm comm;
    comm.pid = pid;
    comm.tid = tid;
    comm.comm = name;
    Encode(perf_event::kRecordComm, 0, layout_, comm, out);
    const auto namespaces = namespaces_.find(tid);
    if (namespaces != namespaces_.end()) {
      WriteAgain<perf_event::Namespaces>(namespaces->second, out);
    }
  };
  // The leader comes first, because the FORK records of the other threads name it as their parent.
  const auto leader = process.threads.find(pid);
  if (leader != process.threads.end()) write_thread(pid, process.parent, leader->second);
  for (const auto& [tid, name] : process.threads) {
    if (tid != pid) write_thread(tid, pid, name);
  }
  for (const Mapping& mapping : process.mappings.list) {
    if (RawRecord(*mapping.record).type() == perf_event::kRecordMmap2) {
      WriteMapping<perf_event::Mmap2>(pid, mapping, out);
    } else {
      WriteMapping<perf_event::Mmap>(pid, mapping, out);
    }
  }
}

template <class Record>
void WhatRuns::WriteMapping(uint32_t pid, const Mapping& mapping,
                            std::vector<std::byte>* out) const {
  const RawRecord record(*mapping.record);
  Record mapped;
  Decode(record, layout_, &mapped);
  // A child's record names the child, even if it has the mapping from its parent. Records of the
  // kernel have thread 0.
  if (mapped.pid != pid) mapped.pid = mapped.tid = pid;
  mapped.sample_id = {};
  Encode(record.type(), record.misc(), layout_, mapped, out);
}

template <class Record>
void WhatRuns::WriteAgain(const Bytes& bytes, std::vector<std::byte>* out) const {
  const RawRecord record(bytes);
  Record again;
  Decode(record, layout_, &again);
  again.sample_id = {};
  Encode(record.type(), record.misc(), layout_, again, out);
}

// ---- bounds

size_t WhatRuns::Process::Cost() const {
  size_t sum = kEntry + threads.size() * 2 * kEntry;
  for (const Mapping& mapping : mappings.list) {
    sum += sizeof(mapping) +
           (mapping.record->capacity() + kEntry) / static_cast<size_t>(mapping.record.use_count());
  }
  return sum;
}

size_t WhatRuns::Cost() const {
  size_t sum = 0;
  for (const auto& [pid, process] : processes_) sum += process.Cost();
  const auto add = [&sum](const auto& records) {
    for (const auto& [key, record] : records) sum += record.capacity() + kEntry;
  };
  add(symbols_);
  add(programs_);
  add(namespaces_);
  add(cgroups_);
  return sum;
}

uint64_t WhatRuns::Trim(size_t most, uint64_t taken, uint64_t newest,
                        const std::function<bool(uint32_t pid)>& exists) {
  constexpr size_t kPart = 8;
  if (grown_ < most / kPart) return 0;
  grown_ = 0;
  const size_t cost = Cost();
  if (cost <= most) return 0;
  uint64_t forgotten = 0;
  for (auto entry = processes_.begin(); entry != processes_.end();) {
    Process& process = entry->second;
    const bool is_alive = entry->first == kKernelPid || exists(entry->first);
    // The last records of a process, perhaps samples, may be among those that are not taken yet.
    if (is_alive) process.gone_at = 0;
    if (!is_alive && process.gone_at == 0) process.gone_at = newest;
    if (is_alive || process.gone_at >= taken) {
      ++entry;
      continue;
    }
    entry = processes_.erase(entry);
    ++forgotten;
  }
  for (size_t in_cgroups = cgroups_.size() * 2 * kEntry; in_cgroups > most / 4;
       in_cgroups -= 2 * kEntry) {
    cgroups_.erase(cgroups_.begin());
    ++forgotten;
  }
  return forgotten + ForgetMappings(most, Cost());
}

// Forgets the older half of the mappings of the largest process, again and again. The first
// mappings of a process stay, because they are its program and its libraries.
uint64_t WhatRuns::ForgetMappings(size_t most, size_t cost) {
  uint64_t forgotten = 0;
  while (cost > most) {
    std::vector<Mapping>* largest = nullptr;
    for (auto& [pid, process] : processes_) {
      if (pid == kKernelPid || process.mappings.list.size() <= kKeptMappings) continue;
      if (largest == nullptr || process.mappings.list.size() > largest->size()) {
        largest = &process.mappings.list;
      }
    }
    if (largest == nullptr) break;
    const auto first = largest->begin() + kKeptMappings / 2;
    const auto last = first + (largest->end() - first + 1) / 2;
    forgotten += static_cast<uint64_t>(last - first);
    largest->erase(first, last);
    cost = Cost();
  }
  return forgotten;
}

}  // namespace profiler::record
