// Passes over the samples of a file that are outside of a window, by their times alone.
//
// The bytes are read with pread(2) into a small buffer, because most of them are looked at once. A
// copy from the page cache takes a fraction of the time in which the kernel, and in a virtual
// machine the hypervisor, map the same pages.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/format/perf_data/read/event_table.h"
#include "src/format/perf_data/read/record_walker.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_data/read/round_sorter.h"

namespace profiler::perf_data {

// A skipper for one pass over one file in native byte order. Not thread-safe.
class SampleSkipper {
 public:
  // `fd` is the file, whose bytes are also mapped at `file`. Owns none of its arguments.
  SampleSkipper(int fd, std::span<const std::byte> file, const Recording::Window& window,
                EventTable& events, RoundSorter& sorter)
      : fd_(fd), file_(file), window_(window), events_(events), sorter_(sorter) {}

  // Advances the walker to its next record that is no sample outside of the window, and tells the
  // sorter about the samples on the way. May stop earlier.
  void Advance(RecordWalker& walker);

 private:
  std::span<const std::byte> BytesAt(uint64_t offset, uint64_t end, size_t need);

  const int fd_;
  const std::span<const std::byte> file_;
  const Recording::Window window_;
  EventTable& events_;
  RoundSorter& sorter_;
  std::vector<std::byte> buffer_;
  uint64_t begin_ = 0, end_ = 0;  // the part of the file that the buffer has
};

}  // namespace profiler::perf_data
