// Passes over the samples of a file that are outside of a window, by their times alone.
//
// The bytes are read with pread(2) into a small buffer, because most of them are looked at once. A
// copy from the page cache takes a fraction of the time in which the kernel, and in a virtual
// machine the hypervisor, map the same pages. Records between the samples are copied.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "src/format/perf_data/read/chunk_store.h"
#include "src/format/perf_data/read/event_table.h"
#include "src/format/perf_data/read/record_walker.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::perf_data {

// A skipper for one pass over one file in native byte order. Not thread-safe. It owns the copied
// records, each until two rounds have ended after it.
class SampleSkipper {
 public:
  // Owns neither the file nor `events`.
  SampleSkipper(int fd, const Recording::Window& window, EventTable& events)
      : fd_(fd), window_(window), events_(events) {}

  // Gets the time of each sample outside of the window.
  using PassOver = absl::FunctionRef<void(uint64_t time)>;
  // Gets all other records on the way. Returns false to stop.
  using Take = absl::FunctionRef<bool(const StoredRecord&)>;

  // Advances the walker to its next sample inside the window, or to a record of perf that is no
  // round marker. May stop earlier.
  void Advance(RecordWalker& walker, PassOver pass_over, Take take);

  // Returns the file offset of a copied record; 0 if `data` is in none.
  uint64_t FileOffsetOf(const std::byte* data) const { return copies_.FileOffsetOf(data); }

 private:
  std::span<const std::byte> BytesAt(uint64_t offset, uint64_t end, size_t need);
  bool TakeCopy(StoredRecord record, uint64_t offset, Take take);

  const int fd_;
  const Recording::Window window_;
  EventTable& events_;
  std::vector<std::byte> buffer_;
  uint64_t begin_ = 0, end_ = 0;  // the part of the file that the buffer has
  ChunkStore copies_;
  Chunk* chunk_ = nullptr;  // the chunk that gets the next copy, at chunk_used_
  size_t chunk_used_ = 0;
};

}  // namespace profiler::perf_data
