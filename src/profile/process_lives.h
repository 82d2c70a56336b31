// Which life of a process's number an image belongs to (symbolize/process_life.h), and what the
// recording knows of that.
//
//   records of number 7      MMAP   exec   MMAP   EXIT       FORK   MMAP
//   of process (files)       0 ──────────────────────        1 ─────────
//   of program (memory)      0 ─────────── 1 ────────        2 ─────────
//
// Private to this package.

#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/profile/recorded_clock.h"
#include "symbolize/symbolizer.h"

namespace profiler::profile {

// Tells `images` of each life that has images. Times are those of records, 0: from before the
// first sample, made up by the recorder. Not thread-safe.
class ProcessLives {
 public:
  // `images` must outlive it.
  ProcessLives(symbolize::Images& images, const RecordedClock& clock)
      : images_(images), clock_(clock) {}

  // The ProcessKey for a file that process `pid` maps: a process has one root, whatever it
  // executes.
  uint32_t OfProcess(uint32_t pid, uint64_t time);
  // For memory that it maps: that is gone with the program.
  uint32_t OfProgram(uint32_t pid, uint64_t time);

  // A sample. Processes that the recorder made up records of lived when the first one was taken.
  void Sampled(uint64_t time) {
    if (!unseen_.empty()) SeeAll(time);
  }
  // Process `pid` is new.
  void Forked(uint32_t pid, uint64_t time);
  void Executed(uint32_t pid, uint64_t time);
  void ThreadEnded(uint32_t pid, uint64_t time);

 private:
  struct Process {
    uint32_t first = 0;                                        // life of the process
    uint32_t now = 0;                                          // of the program
    int64_t began = symbolize::ProcessLife::kUnknown;          // the process
    int64_t program_began = symbolize::ProcessLife::kUnknown;  // the program
  };

  int64_t RealTime(uint64_t time) const;
  int64_t SeenAt(uint64_t time) const;
  uint32_t Use(uint32_t process, int64_t began, uint64_t time);
  // Changes what is known of a life that has images.
  template <class Change>
  void Update(uint32_t process, Change change);
  void SeeAll(uint64_t time);

  symbolize::Images& images_;
  const RecordedClock clock_;
  absl::flat_hash_map<uint32_t, Process> processes_;             // by pid
  absl::flat_hash_map<uint32_t, symbolize::ProcessLife> lives_;  // that have images, by ProcessKey
  std::vector<uint32_t> unseen_;  // of these, before the first sample
};

}  // namespace profiler::profile
