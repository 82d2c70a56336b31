// What goes by on its way from the rings to the file: counted, and images noted; and what runs, for
// a recording that goes into several files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ringbuf/record_cursor.h"
#include "src/base/status.h"
#include "src/perf_data/format/features.h"
#include "src/perf_event/codec.h"
#include "src/record/image_keeper.h"
#include "src/record/image_list.h"
#include "src/record/options.h"
#include "src/record/shared_memory.h"
#include "src/record/what_runs.h"

namespace profiler::record {

// One thread. Costs a few ns a record; allocates for images alone.
class RecordTally {
 public:
  // `layout` says where samples and other records have their time; all events of the recording
  // agree in that.
  explicit RecordTally(const perf_event::RecordLayout& layout) : layout_(layout) {}

  // From the first record on it is known what runs. Costs a copy of each record that tells of it.
  void FollowWhatRuns() { what_runs_.emplace(layout_); }
  // From the first record on images are kept open. Costs what an ImageKeeper does.
  void KeepImages(std::shared_ptr<ImageKeeper> keeper) { keeper_ = std::move(keeper); }

  // From the first record on `listener` is told of processes.
  void TellOfProcesses(std::shared_ptr<ProcessListener> listener) {
    processes_ = std::move(listener);
  }

  // From the first record on, processes in one memory are found. For records that nobody else has
  // put in order.
  void FollowSharers(SharedMemory::Same same) { sharers_.emplace(layout_, std::move(same)); }

  // Takes what already runs, as it stands in front of the recording.
  absl::Status Observe(const ringbuf::RingBytes& bytes);
  // Walks whole records. kDataLoss when these are none.
  absl::Status Take(const ringbuf::RingBytes& bytes);
  // All that one pass over the rings brought was taken.
  void EndPass();
  // Counts what was taken since the last Written as recorded: the file has it.
  void Written() { written_ = {samples_, file_samples_}; }
  // It is not, and counts as lost.
  void NotWritten();
  // Before EndPass: counts and returns the records that others have mapped what one process of
  // their memory has. Valid until the next call.
  std::span<const std::byte> AddMappingsOfSharers();

  // Appends the records of what runs after all that was taken; they are the next file's first.
  void WriteWhatRuns(std::vector<std::byte>* out) { what_runs_->Write(out); }
  // What was taken so far belongs to a file that is complete; `start` is in front of the next one.
  absl::Status BeginFile(std::span<const std::byte> start);

  // Of the whole recording.
  uint64_t samples() const { return samples_; }
  uint64_t lost() const { return lost_; }
  uint64_t lost_chunks() const { return lost_chunks_; }

  // Of the file.
  uint64_t file_samples() const { return file_samples_; }
  // Of the samples; nothing before the first.
  std::optional<perf_data::SampleTime> sample_time() const;
  const ImageList& images() const { return images_; }

 private:
  static constexpr perf_data::SampleTime kNoTime{UINT64_MAX, 0};

  void TakeOne(ringbuf::RawRecord record);
  void Count(ringbuf::RawRecord record);
  void AddImage(ringbuf::RawRecord record);
  void TellOfProcess(ringbuf::RawRecord record);

  const perf_event::RecordLayout layout_;
  uint64_t samples_ = 0;
  uint64_t lost_ = 0;
  uint64_t lost_chunks_ = 0;
  uint64_t file_samples_ = 0;
  struct {
    uint64_t samples = 0, file_samples = 0;
  } written_;
  perf_data::SampleTime time_ = kNoTime;
  ImageList images_;
  std::shared_ptr<ImageKeeper> keeper_;         // null: none is kept
  std::shared_ptr<ProcessListener> processes_;  // null: nobody
  std::optional<WhatRuns> what_runs_;
  std::optional<SharedMemoryOfPasses> sharers_;
  std::unique_ptr<ringbuf::BounceBuffer> bounce_ = std::make_unique<ringbuf::BounceBuffer>();
};

}  // namespace profiler::record
