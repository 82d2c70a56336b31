// A profile as a recording: what makes profiles of other programs readable by every view, and by
// perf.
//
//   Profile ─▶ LayOut (code_layout.h) ─▶ COMM, MMAP2 of each process
//           ─▶ rows                   ─▶ SAMPLE: a row of count n is n samples, whose periods add
//           up ─▶ names                  ─▶ section NAMES
//
// The recording says of the profile what the profile says, and nothing of the machine that writes
// it. Where rows have no times, the samples have none, and those of a thread stand in random order
// (always the same): nobody knows in which order they were taken, so figures of chance are those of
// independent samples. So do those of one time, where rows are several samples.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/perf_data/format/features.h"
#include "src/profile/profile.h"

namespace profiler::import {

struct WriteProfileOptions {
  // Where the rows stand for more samples, or their records would be larger, each row becomes one
  // sample with the period of all. One of the warnings says so.
  uint64_t most_samples = 4'000'000;
  uint64_t most_bytes = uint64_t{1} << 30;
  // Most bytes of records in the file. Chains are cut at the outermost until all fit; if even the
  // shortest do not, samples are left out. Warnings count both.
  uint64_t most_recorded = uint64_t{4} << 30;
  // What the header says. NAMES is added.
  perf_data::Features features;
  // Called when the file at `path` has everything else: the section SUMS, or nothing.
  std::function<std::optional<std::string>()> sums;
};

// Returns the most bytes that `input` bytes may become: an import cannot fill a disk or the memory.
uint64_t MostRecordedOf(uint64_t input);

struct WrittenProfile {
  uint64_t samples = 0;
  uint64_t bytes = 0;
  bool rows_are_samples = false;  // more of them were counted than are written
  std::vector<std::string> warnings;
};

// Writes a named profile to `path`, as perf_data::Writer does. What a profile knows of branches,
// cgroups and the order of its samples is not written. Chains of more than 8000 frames are cut at
// the outermost, and a warning counts them. Memory: a few dozen bytes a frame and a sample.
// Errors: those of the writer; kInvalidArgument for a profile without events.
absl::StatusOr<WrittenProfile> WriteProfile(const profile::Profile& profile,
                                            const std::string& path,
                                            const WriteProfileOptions& options);

}  // namespace profiler::import
