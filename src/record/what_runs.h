// Follows the records of a recording to know which processes and mappings exist. Describes them at
// the start of each further file, as a procfs::Synthesizer does at the start of the first file.
//
//   records of file 1 ──▶ WhatRuns ──▶ FORK, COMM, MMAP2, KSYMBOL … at the start of file 2
//
// So the start of the next file is exact to the record. /proc, read a little later, could lack a
// process that has samples in that file, or show a program that began after those samples. Reading
// /proc would also cost time while the rings fill up.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/format/perf_event/codec.h"

namespace profiler::record {

// The state of all threads and mappings. Use it from one thread. Copies each record about threads
// and mappings; a sample costs nothing. Uses memory for the processes that exist.
class WhatRuns {
 public:
  // `layout` is that of all records except samples.
  explicit WhatRuns(const perf_event::RecordLayout& layout) : layout_(layout) {}

  // Takes any record, including those of a Synthesizer.
  void Take(perf_event::RawRecord record);
  // Ends a pass over the rings. The records of a pass arrive ring by ring, and the last of them may
  // be a little later than the first of the next pass. They are applied in time order.
  void EndPass();
  // Appends whole records that describe what runs after all taken records. Their time and id are 0.
  void Write(std::vector<std::byte>* out);

  // Bounds the memory, for recordings that never end. The ends of processes may be lost, and the
  // kernel reports no unmapping. If more than `most` bytes are used, forgets
  //   * processes that do not exist any more, once all records up to now have been taken
  //   * older mappings of processes that have mapped very many
  //   * the oldest cgroups
  // Processes that exist keep their threads and kKeptMappings mappings. `taken` and `newest` are
  // positions of records: everything before `taken` has been taken, and `newest` exists by now.
  // Returns how many processes, mappings and cgroups were forgotten. Costs nothing until the memory
  // may have grown by an eighth of `most`.
  uint64_t Trim(size_t most, uint64_t taken, uint64_t newest,
                const std::function<bool(uint32_t pid)>& exists);
  static constexpr size_t kKeptMappings = 128;

 private:
  using Bytes = std::vector<std::byte>;
  struct Taken {
    uint64_t time = 0;
    Bytes bytes;
  };
  struct Mapping {
    uint64_t start = 0, end = 0;
    std::shared_ptr<const Bytes> record;  // of the process that mapped; its children share it
  };
  struct Mappings {
    std::vector<Mapping> list;             // in the order of their creation
    uint64_t start = UINT64_MAX, end = 0;  // a range that contains all of them
  };
  struct Process {
    uint32_t parent = 0;
    std::map<uint32_t, std::string> threads;  // names of threads, keyed by tid
    Mappings mappings;
    // Position of the newest record when Trim first found that the process is gone; 0: it is alive.
    uint64_t gone_at = 0;

    size_t Cost() const;  // in bytes; a shared mapping counts in parts
  };

  void ApplyUntil(uint64_t time);
  void Apply(Bytes bytes);
  void Start(perf_event::RawRecord record);
  void End(perf_event::RawRecord record);
  void Name(perf_event::RawRecord record);
  template <class Record>
  void Map(Bytes bytes);
  void AddSymbol(Bytes bytes);
  void AddProgram(Bytes bytes);
  void AddNamespaces(Bytes bytes);
  void AddCgroup(Bytes bytes);
  void WriteProcess(uint32_t pid, const Process& process, std::vector<std::byte>* out) const;
  template <class Record>
  void WriteMapping(uint32_t pid, const Mapping& mapping, std::vector<std::byte>* out) const;
  template <class Record>
  void WriteAgain(const Bytes& bytes, std::vector<std::byte>* out) const;
  size_t Cost() const;
  uint64_t ForgetMappings(size_t most, size_t cost);

  const perf_event::RecordLayout layout_;
  std::vector<Taken> taken_;               // records that are not applied yet
  size_t of_pass_before_ = 0;              // number of entries of taken_ from the former pass
  std::map<uint32_t, Process> processes_;  // keyed by pid; includes the kernel
  std::map<uint64_t, Bytes> symbols_;      // KSYMBOL records, keyed by address
  std::map<uint32_t, Bytes> programs_;     // BPF_EVENT records, keyed by the program's id
  std::map<uint32_t, Bytes> namespaces_;   // NAMESPACES records, keyed by tid
  std::map<uint64_t, Bytes> cgroups_;      // CGROUP records, keyed by the cgroup's id
  size_t grown_ = 0;  // bytes by which the memory may have grown since Trim has measured it
};

}  // namespace profiler::record
