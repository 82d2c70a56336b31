// Counts the records on their way from the rings to the file and notes their images. For a
// recording that goes into several files, also follows what runs.

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
#include "src/format/perf_data/format/features.h"
#include "src/format/perf_event/codec.h"
#include "src/record/image_keeper.h"
#include "src/record/image_list.h"
#include "src/record/options.h"
#include "src/record/shared_memory.h"
#include "src/record/what_runs.h"

namespace profiler::record {

// The tally. Use it from one thread. Costs a few ns per record; allocates only for images.
class RecordTally {
 public:
  // `layout` says where samples and other records have their time. All events of the recording must
  // have the time at the same positions.
  explicit RecordTally(const perf_event::RecordLayout& layout) : layout_(layout) {}

  // Follows what runs, for WriteWhatRuns. Copies each record about threads and mappings. Call it
  // before the first record.
  void FollowWhatRuns() { what_runs_.emplace(layout_); }
  // Keeps images open, at the cost of an ImageKeeper. Call it before the first record.
  void KeepImages(std::shared_ptr<ImageKeeper> keeper) { keeper_ = std::move(keeper); }

  // Reports processes to `listener`. Call it before the first record.
  void TellOfProcesses(std::shared_ptr<ProcessListener> listener) {
    processes_ = std::move(listener);
  }

  // Follows which processes share their memory, from records that are not in time order. `same`
  // compares two processes. Call it before the first record.
  void FollowSharers(SharedMemory::Same same) { sharers_.emplace(layout_, std::move(same)); }

  // Takes the records that describe the processes already running when the recording begins.
  absl::Status Observe(const ringbuf::RingBytes& bytes);
  // Takes whole records. Returns kDataLoss if the bytes are no records.
  absl::Status Take(const ringbuf::RingBytes& bytes);
  // Ends a pass: all records of one pass over the rings were taken.
  void EndPass();
  // Notes that the file has all records taken so far.
  void Written() { written_ = {samples_, file_samples_}; }
  // Counts the samples taken since the last call of Written as lost, because the file lacks them.
  void NotWritten();
  // Returns records that repeat a process's mappings for the processes that share its memory, and
  // counts these records. Call it before EndPass. Valid until the next call.
  std::span<const std::byte> AddMappingsOfSharers();

  // Appends records that describe what runs after all taken records. The next file begins with
  // them.
  void WriteWhatRuns(std::vector<std::byte>* out) { what_runs_->Write(out); }
  // Begins a file: the records taken so far belong to a complete file. `start` has the records with
  // which the new file begins.
  absl::Status BeginFile(std::span<const std::byte> start);

  // Counts of the whole recording.
  uint64_t samples() const { return samples_; }
  uint64_t lost() const { return lost_; }
  uint64_t lost_chunks() const { return lost_chunks_; }

  // Returns the number of samples in the present file.
  uint64_t file_samples() const { return file_samples_; }
  // Returns the first and last time of the present file's samples; nothing before the first sample.
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
  std::shared_ptr<ImageKeeper> keeper_;         // null: no images are kept
  std::shared_ptr<ProcessListener> processes_;  // null: no listener
  std::optional<WhatRuns> what_runs_;
  std::optional<SharedMemoryOfPasses> sharers_;
  std::unique_ptr<ringbuf::BounceBuffer> bounce_ = std::make_unique<ringbuf::BounceBuffer>();
};

}  // namespace profiler::record
