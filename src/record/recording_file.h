// Writes one output file of a recording, from its header to its features.
//
//   header │ what runs │ round │ round │ … │ features │ names
//            Begin       Append  Append      Finish     writer

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_data/sections/own_sections.h"
#include "src/format/perf_data/write/writer.h"
#include "src/machine/procfs/build_id.h"
#include "src/record/event_plan.h"
#include "src/record/off_cpu.h"
#include "src/record/options.h"
#include "src/record/record_tally.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::record {

// The contents that all files of a recording share.
struct RecordingFacts {
  std::vector<perf_data::EventToWrite> events;
  perf_data::WriterOptions writer;
  perf_data::Features features;  // except those that describe the recorded samples
  procfs::BuildId kernel;        // empty if no kernel code is sampled
};

// Returns the features that are known before anything is recorded. The difference between the
// clocks is read now and holds for the whole recording.
perf_data::Features FeaturesKnownBefore(const RecordOptions& options, const EventPlan& plan,
                                        const std::string& tracing_data);

// One file. From Begin on, it is readable as a recording at every moment, even after kill -9. Use
// it from one thread.
class RecordingFile {
 public:
  // Creates `path` and writes `start`, whole records, as its first round. `facts` must outlive the
  // file. Errors: those of perf_data::Writer.
  static absl::StatusOr<std::unique_ptr<RecordingFile>> Begin(const std::string& path,
                                                              const RecordingFacts& facts,
                                                              std::span<const std::byte> start);

  // Appends a round: whole records, in pieces. After an error the file has nothing of that round.
  absl::Status Append(std::span<const std::span<const std::byte>> pieces);
  // What the features say about the samples of the file. Null pointers: nothing.
  struct Contents {
    const ChainQuality* chains = nullptr;            // null if nothing was unwound
    const OffCpu::Estimates* estimates = nullptr;    // null without --off-cpu
    const perf_data::RecorderFacts::Moment* moment = nullptr;  // null without --flight
  };
  // Writes the features; call it once, last.
  absl::Status Finish(const RecordTally& tally, const Contents& contents);
  // After Finish: takes further sections, and can read back the file.
  perf_data::Writer& writer() { return *writer_; }

  // Hands over the writer, so that another thread can add sections to this file while the next file
  // is written. Call no other function afterwards.
  std::unique_ptr<perf_data::Writer> Release() { return std::move(writer_); }

  uint64_t bytes_written() const { return writer_->bytes_written(); }

 private:
  RecordingFile(const RecordingFacts& facts, std::unique_ptr<perf_data::Writer> writer)
      : facts_(facts), writer_(std::move(writer)) {}

  const RecordingFacts& facts_;
  std::unique_ptr<perf_data::Writer> writer_;
};

}  // namespace profiler::record
