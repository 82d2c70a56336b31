// The records of a stream, taken while it is written: whoever writes a stream cannot read it again.
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
#include "src/perf_data/format/features.h"
#include "src/perf_data/read/chunk_store.h"
#include "src/perf_data/read/event_table.h"
#include "src/perf_data/read/record_pass.h"
#include "src/perf_data/read/record_walker.h"
#include "src/perf_data/read/recording.h"

namespace profiler::perf_data {

// Not thread-safe. Costs a copy of the bytes, and memory for two rounds of them.
class WrittenStream {
 public:
  explicit WrittenStream(std::function<void(const TimedRecord&)> visit);
  WrittenStream(const WrittenStream&) = delete;
  WrittenStream& operator=(const WrittenStream&) = delete;

  // What is written, as StreamListener gets it. Visits the records of the rounds that are complete.
  void Take(std::span<const std::span<const std::byte>> pieces);
  // Visits what is left. Once, last; returns what was wrong with the stream.
  absl::Status Finish();

  // As far as the stream has told them.
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
  Source* source_;  // of walker_, which owns it
  RecordWalker walker_;
  RecordPass pass_;
};

}  // namespace profiler::perf_data
