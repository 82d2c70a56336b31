// Assigns images to the lives of a pid (symbolize/process_life.h), because a pid can be reused and
// a process can execute another program.
//
//   records of pid 7         MMAP   exec   MMAP   EXIT       FORK   MMAP
//   life of process (files)  0 ──────────────────────        1 ─────────
//   life of program (memory) 0 ─────────── 1 ────────        2 ─────────
//
// Private to this package.

#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/recorded_clock.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// The lives of all pids. Reports each life that has images to `images`. Times are those of records.
// 0 is the time of records that the recorder wrote from /proc, before the first sample. Not
// thread-safe.
class ProcessLives {
 public:
  // `images` must outlive this object.
  ProcessLives(symbolize::RecordedFacts& facts, const RecordedClock& clock)
      : facts_(facts), clock_(clock) {}

  // Returns the ProcessKey for a file that process `pid` maps. A process has one root directory,
  // whatever it executes.
  uint32_t OfProcess(uint32_t pid, uint64_t time);
  // Returns the ProcessKey for memory that process `pid` maps. Such memory is gone when the process
  // executes another program.
  uint32_t OfProgram(uint32_t pid, uint64_t time);

  // Notes a sample. Processes known only from the recorder's own records were alive when the first
  // sample was taken.
  void Sampled(uint64_t time) {
    if (!unseen_.empty()) SeeAll(time);
  }
  // Notes that process `pid` is new.
  void Forked(uint32_t pid, uint64_t time);
  void Executed(uint32_t pid, uint64_t time);
  void ThreadEnded(uint32_t pid, uint64_t time);

 private:
  struct Process {
    uint32_t first = 0;                                // present life of the process
    uint32_t now = 0;                                  // present life of its program
    int64_t began = symbolize::ProcessLife::kUnknown;  // real time in ns when the process began
    // Real time in ns when its program began.
    int64_t program_began = symbolize::ProcessLife::kUnknown;
  };

  int64_t RealTime(uint64_t time) const;
  int64_t SeenAt(uint64_t time) const;
  uint32_t Use(uint32_t process, int64_t began, uint64_t time);
  // Changes the facts about a life that has images.
  template <class Change>
  void Update(uint32_t process, Change change);
  void SeeAll(uint64_t time);

  symbolize::RecordedFacts& facts_;
  const RecordedClock clock_;
  absl::flat_hash_map<uint32_t, Process> processes_;  // keyed by pid
  // The lives that have images, keyed by ProcessKey.
  absl::flat_hash_map<uint32_t, symbolize::ProcessLife> lives_;
  std::vector<uint32_t> unseen_;  // keys of lives_ that exist since before the first sample
};

}  // namespace profiler::profile
