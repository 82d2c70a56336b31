// Writes a profile as a recording, so that every view and perf can read profiles of other programs.
//
//   Profile ─▶ LayOut (code_layout.h) ─▶ COMM, MMAP2 of each process
//           ─▶ rows                   ─▶ SAMPLE: n of them for a row of count n, with its period
//                                        divided among them
//           ─▶ names                  ─▶ section NAMES
//
// The recording describes only the profile, not the machine that writes it. If rows have no times,
// samples have no times either. Samples of one thread are then in random order (always the same),
// because their true order is unknown. So statistical errors become those of independent samples.
// If some rows stand for several samples, samples of the same time are shuffled too.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_data/format/features.h"
#include "src/profile/profile.h"

namespace profiler::importers {

struct WriteProfileOptions {
  // Limits. If there would be more samples or larger records, each row becomes one sample with the
  // whole period. A warning says so.
  uint64_t most_samples = 4'000'000;
  uint64_t most_bytes = uint64_t{1} << 30;
  // Limit in bytes for the records of the file. The outermost frames of chains are cut off until
  // all records fit; if even the shortest chains do not fit, samples are left out. Warnings count
  // the cut chains and the samples that were left out.
  uint64_t most_recorded = uint64_t{4} << 30;
  // The contents of the header. NAMES is added.
  perf_data::Features features;
  // Called when everything else in the file at `path` is complete. Returns the section SUMS, or
  // nothing.
  std::function<std::optional<std::string>()> sums;
};

// Returns the limit in bytes for the recording of an import of `input` bytes, so that an import
// cannot fill the disk or memory.
uint64_t MostRecordedOf(uint64_t input);

struct WrittenProfile {
  uint64_t samples = 0;
  uint64_t bytes = 0;
  bool rows_are_samples = false;  // True if each row is one sample, whatever its count.
  std::vector<std::string> warnings;
};

// Writes a named profile to `path`, as perf_data::Writer does. Does not write branches, cgroups and
// the order of samples. Chains of more than 8000 frames lose their outermost frames, and a warning
// counts these chains. Uses a few dozen bytes of memory per frame and per sample. Errors: those of
// perf_data::Writer; kInvalidArgument for a profile without events.
absl::StatusOr<WrittenProfile> WriteProfile(const profile::Profile& profile,
                                            const std::string& path,
                                            const WriteProfileOptions& options);

}  // namespace profiler::importers
