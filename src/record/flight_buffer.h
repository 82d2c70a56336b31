// Keeps the latest records of a recording in memory, for the flight recorder.
//
//   arena     │ free │ slice 7 │ slice 8 │ slice 9, open │ free │    its size never changes
//   WhatRuns  what ran before slice 7: from the records of slices 1 to 6, which are dropped
//
// Each pass over the rings is copied into the arena. Slices leave, the oldest first, if they are
// too old or if newer records need their room. The records about processes of a dropped slice are
// applied to a WhatRuns. So a file of WhatRuns and the kept slices is a whole recording: it has
// every process that has a sample in it or is alive, and every image mapped there.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringbuf/record_cursor.h"
#include "ringbuf/ring_view.h"
#include "src/base/status.h"
#include "src/format/perf_event/codec.h"
#include "src/record/what_runs.h"

namespace profiler::record {

// Bounds of the kept records.
struct FlightLimits {
  std::chrono::steady_clock::duration time{0};  // 0: only `bytes` is a bound
  size_t bytes = size_t{64} << 20;              // at least kLeastBytes, the largest record
  static constexpr size_t kLeastBytes = size_t{1} << 16;
};

// The buffer. Use it from one thread. Memory: `bytes` for the records, at most a quarter of it for
// WhatRuns, apart from processes that are alive or whose last records may be kept. Pages of the arena are used from the first record
// on that needs them. Costs a copy of each record, and an allocation per slice.
class FlightBuffer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The records of some passes. At least kSlices of them fit into the arena and into the time.
  struct Slice {
    uint64_t number = 0;          // counts up from 0
    uint64_t begin = 0, end = 0;  // positions in the stream of all records
    Time first, last;             // when its first and its last record were read
    uint64_t samples = 0;
  };
  static constexpr size_t kSlices = 32;

  // `layout` is that of all records. `exists` says whether a process is alive. Error:
  // kResourceExhausted if there is no memory.
  static absl::StatusOr<std::unique_ptr<FlightBuffer>> Create(
      const perf_event::RecordLayout& layout, const FlightLimits& limits,
      std::function<bool(uint32_t pid)> exists);
  ~FlightBuffer();
  FlightBuffer(const FlightBuffer&) = delete;

  // Calls `on_drop` with each slice that is about to be dropped.
  void OnDrop(std::function<void(const Slice&)> on_drop) { on_drop_ = std::move(on_drop); }
  // Calls `on_sample` with each sample. The record is valid during the call.
  void OnSample(std::function<void(perf_event::RawRecord)> on_sample) {
    on_sample_ = std::move(on_sample);
  }
  // Takes the records that describe the processes already running when the recording begins.
  void Observe(std::span<const std::byte> records);
  // Appends a pass that was read at `now`: whole records, in consecutive pieces. Returns true if
  // the pass has completed a slice.
  bool Append(std::span<const std::span<const std::byte>> pieces, Time now);
  // Completes the open slice, if there is one.
  void CompleteSlice() { is_open_ = false; }
  // Drops complete slices that were read before `time`.
  void DropBefore(Time time);

  // Returns the kept slices, the oldest first.
  const std::deque<Slice>& slices() const { return slices_; }
  // Returns the records of a kept slice. Valid until the slice is dropped.
  ringbuf::RingBytes BytesOf(const Slice& slice) const { return Bytes(slice.begin, slice.end); }
  // Returns the part of the arena that is filled by slices from `number` on, from 0 to 1.
  double FilledFrom(uint64_t number) const;
  // Appends the records that describe what ran before the first kept slice.
  void WriteWhatRan(std::vector<std::byte>* out) const;

  // Records that were dropped since `since`, or a little before, because newer ones needed their
  // room.
  struct Dropped {
    uint64_t samples = 0;
    std::optional<Time> until;  // when the latest of them was read
  };
  Dropped DroppedSince(Time since) const;
  // Returns how many records about processes WhatRuns had no room for.
  uint64_t forgotten() const { return forgotten_; }

 private:
  FlightBuffer(const perf_event::RecordLayout& layout, const FlightLimits& limits,
               std::function<bool(uint32_t pid)> exists, std::span<std::byte> arena);

  uint64_t kept_bytes() const { return slices_.empty() ? 0 : end_ - slices_.front().begin; }
  void MakeRoom(size_t bytes);
  void NoteDropped(const Slice& slice);
  void DropFirst();
  void Copy(std::span<const std::byte> bytes);
  ringbuf::RingBytes Bytes(uint64_t begin, uint64_t end) const;

  const FlightLimits limits_;
  const size_t slice_bytes_;
  const std::chrono::steady_clock::duration slice_time_;  // 0: no bound
  const std::function<bool(uint32_t pid)> exists_;
  const std::span<std::byte> arena_;
  std::function<void(const Slice&)> on_drop_;
  std::function<void(perf_event::RawRecord)> on_sample_;
  std::deque<Slice> slices_;
  bool is_open_ = false;  // True while the last slice takes further records.
  uint64_t end_ = 0;      // position of the next record
  // Ends of the passes in the kept slices. A slice may end within a pass.
  std::deque<uint64_t> pass_ends_;
  uint64_t next_number_ = 0;
  WhatRuns what_ran_;
  uint64_t forgotten_ = 0;
  std::deque<Slice> dropped_;  // sums of slices dropped for room, as far as they may be asked for
  std::unique_ptr<ringbuf::BounceBuffer> bounce_ = std::make_unique<ringbuf::BounceBuffer>();
};

}  // namespace profiler::record
