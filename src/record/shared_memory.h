// Finds processes that share their memory. Repeats the records of mappings that one of them makes
// for the others.
//
// clone(CLONE_VM) without CLONE_THREAD makes a new process in the memory of its parent, as
// sandboxes, some language runtimes and LinuxThreads do. The kernel writes an MMAP2 record only for
// the process that has called mmap(2), although the mapping exists in both:
//
//   kernel     FORK 7 → 8          MMAP2 8: libx.so     samples of 7 in libx.so
//   file       FORK 7 → 8          MMAP2 8: libx.so     MMAP2 7: libx.so
//
// A FORK record does not say whether memory is shared. So kcmp(2) is asked, once for each pair of
// relatives, when the first of the two maps code. A process shares memory from its start to its end
// or next exec, and never begins to share later. So if two processes share their memory now, they
// also shared it when the record was written. If one of them has ended or executed another program
// by now, kcmp(2) cannot tell; then no record is added.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ringbuf/raw_record.h"
#include "src/format/perf_event/codec.h"

namespace profiler::record {

// Returns true if two running processes have the same memory, by kcmp(2). Needs the rights of
// ptrace(2) on both; returns false without them. `proc` is the path of /proc.
bool HaveSameMemory(const std::string& proc, uint32_t a, uint32_t b);

// Calls `take` with each of several contiguous whole records.
template <class Function>
void ForEachRecord(std::span<const std::byte> records, Function take) {
  while (records.size() >= sizeof(ringbuf::RecordHeader)) {
    const size_t size = perf_event::RawRecord(records).header().size;
    take(perf_event::RawRecord(records.first(size)));
    records = records.subspan(size);
  }
}

// The groups of processes that share memory. Use it from one thread. A mapping of a process without
// living relatives costs one look-up.
class SharedMemory {
 public:
  using Same = std::function<bool(uint32_t a, uint32_t b)>;

  // `layout` is that of all records except samples.
  SharedMemory(const perf_event::RecordLayout& layout, Same same)
      : layout_(layout), same_(std::move(same)) {}

  // Takes a record that describes a process already running. Such records have all mappings of each
  // process, so nothing is added.
  void Observe(perf_event::RawRecord record);
  // Takes the next record of any type, in time order. If the record is a mapping, appends a copy of
  // it to `*out` for each other process that shares the memory.
  void Take(perf_event::RawRecord record, std::vector<std::byte>* out);

 private:
  struct Process {
    uint32_t parent = 0;  // 0: no parent that could share its memory
    std::vector<uint32_t> children;
    absl::flat_hash_map<uint32_t, bool> shares;  // answers of `same_`, keyed by the relative
  };

  void Began(uint32_t pid, uint32_t parent);
  void Left(uint32_t pid);
  bool Share(uint32_t a, uint32_t b);
  std::vector<uint32_t> SharersOf(uint32_t pid);

  const perf_event::RecordLayout layout_;
  const Same same_;
  absl::flat_hash_map<uint32_t, Process> processes_;
};

// A SharedMemory for records that do not arrive in time order, but ring by ring, pass after pass.
class SharedMemoryOfPasses {
 public:
  SharedMemoryOfPasses(const perf_event::RecordLayout& layout, SharedMemory::Same same)
      : layout_(layout), shared_(layout, std::move(same)) {}

  void Observe(perf_event::RawRecord record) { shared_.Observe(record); }
  void Take(perf_event::RawRecord record);
  // Returns the records to add to this pass: whole records, valid until the next call.
  std::span<const std::byte> EndPass();

 private:
  struct Taken {
    uint64_t time = 0;
    std::vector<std::byte> bytes;
  };

  const perf_event::RecordLayout layout_;
  SharedMemory shared_;
  std::vector<Taken> taken_;
  std::vector<std::byte> added_;
};

}  // namespace profiler::record
