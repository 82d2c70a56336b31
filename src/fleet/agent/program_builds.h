// The executable of each process, from the records of one recording.
//
//   exec        ──▶ MMAP2 /usr/bin/x build-id   the first mapping after it is the executable's
//   at start    ──▶ MMAP2 /usr/bin/x build-id   the first mapping of a process that already runs
//   FORK        ──▶ the child has its parent's executable

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_event/codec.h"

namespace profiler::agent {

// The programs that processes ran. Not thread-safe. Memory grows with processes and the programs
// they executed.
class ProgramBuilds {
 public:
  // `features` supply the build-ids of files whose mapping records have none.
  explicit ProgramBuilds(const perf_data::Features& features);

  // Adds a record of any type. Records must come in time order.
  void Add(perf_event::RawRecord record, const perf_event::RecordLayout& layout);

  // Returns the build-id, in hexadecimal digits, of the program that process `pid` ran under the
  // name `name`. If no program had this name, returns the build-id of the process's last program.
  // Empty if the build-id is unknown.
  std::string BuildIdOf(uint32_t pid, std::string_view name) const;

 private:
  struct Program {
    std::string name;
    std::vector<std::byte> build_id;
    bool is_known = false;  // True if the program's executable was mapped.
  };
  using Programs = std::vector<Program>;

  void Name(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  void Map(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  void Fork(perf_event::RawRecord record, const perf_event::RecordLayout& layout);

  absl::flat_hash_map<std::string, std::vector<std::byte>> build_ids_;  // keyed by path
  // keyed by pid; the last program of a process is the one that it runs now
  absl::flat_hash_map<uint32_t, Programs> programs_;
};

}  // namespace profiler::agent
