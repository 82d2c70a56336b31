// One output file of a recording, from its header to its features.
//
//   header │ what runs │ round │ round │ … │ features │ names
//            Begin       Append  Append      Finish     writer

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/chain_quality.h"
#include "src/base/status.h"
#include "src/perf_data/format/features.h"
#include "src/perf_data/write/writer.h"
#include "src/procfs/build_id.h"
#include "src/record/event_plan.h"
#include "src/record/off_cpu.h"
#include "src/record/options.h"
#include "src/record/record_tally.h"

namespace profiler::record {

// What every file of a recording says.
struct RecordingFacts {
  std::vector<perf_data::EventToWrite> events;
  perf_data::WriterOptions writer;
  perf_data::Features features;  // all but those that tell what was recorded
  procfs::BuildId kernel;        // empty where no kernel code is sampled
};

// Those that are known before anything is recorded. The distance between the clocks is taken now,
// and holds for the whole recording.
perf_data::Features FeaturesKnownBefore(const RecordOptions& options, const EventPlan& plan,
                                        const std::string& tracing_data);

// One thread. Readable as a recording at every moment from Begin on, also after kill -9.
class RecordingFile {
 public:
  // Creates `path` and writes `start`, whole records, as its first round. `facts` must outlive it.
  // Errors: those of perf_data::Writer.
  static absl::StatusOr<std::unique_ptr<RecordingFile>> Begin(const std::string& path,
                                                              const RecordingFacts& facts,
                                                              std::span<const std::byte> start);

  // A round: whole records, in pieces. After an error nothing of it is in the file.
  absl::Status Append(std::span<const std::span<const std::byte>> pieces);
  // The features, once, last. `chains` is null where nothing was unwound.
  absl::Status Finish(const RecordTally& tally, const ChainQuality* chains, const OffCpu* off_cpu);
  // Behind Finish: takes further sections, and what was written can be read from it.
  perf_data::Writer& writer() { return *writer_; }

  // The same for whoever does so while the next file is written. Nothing else may be called from
  // then on.
  std::unique_ptr<perf_data::Writer> Release() { return std::move(writer_); }

  uint64_t bytes_written() const { return writer_->bytes_written(); }

 private:
  RecordingFile(const RecordingFacts& facts, std::unique_ptr<perf_data::Writer> writer)
      : facts_(facts), writer_(std::move(writer)) {}

  const RecordingFacts& facts_;
  std::unique_ptr<perf_data::Writer> writer_;
};

}  // namespace profiler::record
