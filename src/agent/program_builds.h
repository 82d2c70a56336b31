// Which executable each process ran, by the records of one recording.
//
//   exec        ──▶ MMAP2 /usr/bin/x build-id   the first mapping behind it is of the executable
//   what runs   ──▶ likewise: mappings stand in the order in which they were made
//   FORK        ──▶ the child's is its parent's

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/perf_data/format/features.h"
#include "src/perf_event/codec.h"

namespace profiler::agent {

// Not thread-safe. Memory by processes and the programs that they executed.
class ProgramBuilds {
 public:
  // `features` name the build-ids of files whose mappings do not.
  explicit ProgramBuilds(const perf_data::Features& features);

  // Any record, in time order.
  void Add(perf_event::RawRecord record, const perf_event::RecordLayout& layout);

  // The build-id, as hexadecimal digits, of what process `pid` ran under that name; of its last
  // program if it ran none under it. Empty where that has none, or nothing is known.
  std::string BuildIdOf(uint32_t pid, std::string_view name) const;

 private:
  struct Program {
    std::string name;
    std::vector<std::byte> build_id;
    bool is_known = false;  // its executable was mapped
  };
  using Programs = std::vector<Program>;

  void Name(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  void Map(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  void Fork(perf_event::RawRecord record, const perf_event::RecordLayout& layout);

  absl::flat_hash_map<std::string, std::vector<std::byte>> build_ids_;  // by path
  absl::flat_hash_map<uint32_t, Programs> programs_;                    // by pid, the last is now's
};

}  // namespace profiler::agent
