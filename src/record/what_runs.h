// What runs at a moment of a recording, as the records up to there tell it: to stand in front of
// the next file, as a procfs::Synthesizer puts it in front of the first one.
//
//   records of file 1 ──▶ WhatRuns ──▶ FORK, COMM, MMAP2, KSYMBOL … at the start of file 2
//
// So the next file is right to the record: what /proc says a little later may lack a process that
// has samples there still, or have the program after theirs. Nor is /proc read while the rings fill
// up.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/perf_event/codec.h"

namespace profiler::record {

// One thread. Copies each record that tells of threads and mappings; a sample costs nothing. Memory
// is that of the processes which are there.
class WhatRuns {
 public:
  // `layout` is that of all records but samples.
  explicit WhatRuns(const perf_event::RecordLayout& layout) : layout_(layout) {}

  // Any record, those that a Synthesizer made included.
  void Take(perf_event::RawRecord record);
  // The records taken since the last call are of one pass over the rings. In it they come ring by
  // ring, and the last of them may be a little later than the first of the next pass; they count in
  // the order of their times.
  void EndPass();
  // Appends whole records of what runs after all that was taken. Their time and id are 0.
  void Write(std::vector<std::byte>* out);

 private:
  using Bytes = std::vector<std::byte>;
  struct Taken {
    uint64_t time = 0;
    Bytes bytes;
  };
  struct Mapping {
    uint64_t start = 0, end = 0;
    Bytes record;  // of the process that mapped it; its children have it as well
  };
  using Mappings = std::vector<std::shared_ptr<const Mapping>>;
  struct Process {
    uint32_t parent = 0;
    std::map<uint32_t, std::string> threads;  // their names
    Mappings mappings;                        // in the order in which they were made
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
  void WriteProcess(uint32_t pid, const Process& process, std::vector<std::byte>* out) const;
  template <class Record>
  void WriteMapping(uint32_t pid, const Mapping& mapping, std::vector<std::byte>* out) const;
  template <class Record>
  void WriteAgain(const Bytes& bytes, std::vector<std::byte>* out) const;

  const perf_event::RecordLayout layout_;
  std::vector<Taken> taken_;               // not applied yet
  size_t of_pass_before_ = 0;              // how many of them
  std::map<uint32_t, Process> processes_;  // the kernel too
  std::map<uint64_t, Bytes> symbols_;      // KSYMBOL records by address
  std::map<uint32_t, Bytes> programs_;     // BPF_EVENT records by the program's id
};

}  // namespace profiler::record
