// Visits the records of a stream while it is written, because the writer of a stream cannot read it
// again.
//
//   StreamWriter ──▶ standard output
//        └─────────▶ WrittenStream ──▶ visitor, in time order

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/base/mapped_file.h"
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_data/read/chunk_store.h"
#include "src/format/perf_data/read/event_table.h"
#include "src/format/perf_data/read/record_pass.h"
#include "src/format/perf_data/read/record_walker.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::perf_data {

// A visitor of written bytes. Not thread-safe. Costs a copy of the bytes, and memory for two rounds
// of them.
class WrittenStream {
 public:
  explicit WrittenStream(std::function<void(const TimedRecord&)> visit);
  WrittenStream(const WrittenStream&) = delete;
  WrittenStream& operator=(const WrittenStream&) = delete;

  // Takes written bytes, as a StreamListener. Visits the records of complete rounds.
  void Take(std::span<const std::span<const std::byte>> pieces);
  // Visits the remaining records and returns the error of the stream, if any. Call it once, last.
  absl::Status Finish();

  // The events and features that the stream has contained so far.
  const std::vector<EventDescription>& events() const { return events_.events(); }
  const Features& features() const { return features_; }

 private:
  class Source;

  const std::function<bool(const TimedRecord&)> visit_;
  EventTable events_{/*swapped=*/false};
  Features features_;
  ChunkStore chunks_;
  const std::vector<MappedFile> no_files_;
  uint64_t collected_ = 0;
  Source* source_;  // owned by walker_
  RecordWalker walker_;
  RecordPass pass_;
};

}  // namespace profiler::perf_data
