// What goes by on its way from the rings to the file: counted, and images noted.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ringbuf/record_cursor.h"
#include "src/base/status.h"
#include "src/perf_data/format/features.h"
#include "src/perf_event/codec.h"
#include "src/record/image_list.h"

namespace profiler::record {

// One thread. Costs a few ns a record; allocates for images alone.
class RecordTally {
 public:
  // `layout` says where samples and other records have their time; all events of the recording
  // agree in that.
  explicit RecordTally(const perf_event::RecordLayout& layout) : layout_(layout) {}

  // Walks whole records. kDataLoss when these are none.
  absl::Status Take(const ringbuf::RingBytes& bytes);

  uint64_t samples() const { return samples_; }
  uint64_t lost() const { return lost_; }
  uint64_t lost_chunks() const { return lost_chunks_; }
  // Of the samples; nothing before the first.
  std::optional<perf_data::SampleTime> sample_time() const;
  const ImageList& images() const { return images_; }

 private:
  void Count(ringbuf::RawRecord record);

  const perf_event::RecordLayout layout_;
  uint64_t samples_ = 0;
  uint64_t lost_ = 0;
  uint64_t lost_chunks_ = 0;
  perf_data::SampleTime time_{UINT64_MAX, 0};
  ImageList images_;
  std::unique_ptr<ringbuf::BounceBuffer> bounce_ = std::make_unique<ringbuf::BounceBuffer>();
};

}  // namespace profiler::record
