// Locates missing samples by the records that report them, and raises the weights of neighbouring
// samples to compensate.
//
//   LOST            a CPU's ring had no room for this many records since the former record
//   LOST_SAMPLES    this many samples of an event were not written
//   THROTTLE …      an event took no samples on a CPU, because there were too many
//     … UNTHROTTLE  until now
//
// Each of these is a gap in the stream of one event on one CPU (or in one thread, if samples do not
// have their CPU). The samples around the gap stand for the missing ones (placeholders.h). A record
// without a CPU is a gap in the samples of all CPUs, and a record without an event is a gap in all
// events.
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/codec.h"
#include "src/profile/placeholders.h"
#include "src/profile/profile.h"
#include "src/profile/sample_selection.h"

namespace profiler::profile {

// The gaps of all streams. Not thread-safe. Feed it in time order. Memory grows with the streams
// and the gaps.
class MissingSamples {
 public:
  // Ignores losses outside of `selection`, which must outlive this object.
  explicit MissingSamples(const SampleSelection& selection) : selection_(selection) {}

  // Adds the next event; events are numbered in the order of these calls.
  void AddEvent(const perf_event::Attr& attr);

  // Counts a SAMPLE record of a stream. `tid` is the stream's thread if streams are threads.
  void AddRecord(uint32_t stream, std::optional<uint32_t> tid);
  // Counts a sample of Profile::order, which has `behind` samples so far. One record has several
  // samples if it read the counters of a group.
  void AddSample(EventId event, uint32_t stream, uint64_t time, size_t behind);
  // Takes any other record.
  void Take(perf_event::RawRecord record, EventId event, const perf_event::RecordLayout& layout,
            uint64_t time, size_t behind);

  // Sets the weights of the samples in Profile::order.
  void Weigh(Profile& profile);

 private:
  // The samples of one event in a stream.
  struct Stream {
    uint64_t samples = 0;
    uint64_t first = 0, last = 0;  // times of samples
    double throttled = 0;          // time in ns during which the event was throttled
    // The time at which throttling began, if the event is throttled, and the number of samples
    // since then.
    std::optional<uint64_t> throttled_since;
    uint64_t since_then = 0;
  };
  using StreamId = std::pair<EventId, uint32_t>;

  // A loss that a record reports.
  struct Lack {
    std::optional<EventId> event;
    std::optional<uint32_t> stream;
    // Index in Profile::order of the first sample after the loss.
    size_t before = 0;
    // Number of lost samples, or of lost records if the event is unknown. If is_time: the time in
    // ns in which the event took no samples.
    double amount = 0;
    bool is_time = false;
  };

  // The samples of one event, in one stream or in all streams.
  struct Part {
    std::vector<uint32_t> samples;  // indices in Profile::order
    std::vector<Gap> gaps;
  };
  using PartId = std::pair<EventId, std::optional<uint32_t>>;
  using Parts = std::map<PartId, Part>;
  struct Missing {
    PartId part;
    Gap gap;
    bool was_lost = false;  // False if its event was throttled.
  };

  std::optional<uint32_t> StreamOf(const perf_event::RecordLayout& layout,
                                   const perf_event::SampleId& id) const;
  void EndThrottling(StreamId id, uint64_t time, size_t behind);
  double DistanceOf(const Profile& profile, StreamId id) const;
  std::vector<EventId> EventsOf(const Lack& lack, const Profile& profile) const;
  double SamplesOf(const Lack& lack, EventId event, const Profile& profile) const;
  std::vector<Missing> ByEvent(const Profile& profile, const Parts& parts) const;
  static std::map<EventId, double> LostByEvent(std::span<const Missing> all);

  const SampleSelection& selection_;
  std::vector<bool> is_clock_;  // [event]: True if its periods are nanoseconds
  uint64_t all_records_ = 0;
  // Number of records of all types in each stream.
  absl::flat_hash_map<uint32_t, uint64_t> records_;
  // The stream of each thread (tid), if streams are threads.
  absl::flat_hash_map<uint32_t, uint32_t> of_thread_;
  std::map<StreamId, Stream> streams_;
  std::vector<Lack> lacks_;
  // The number of all lost samples of each event, from counters that the recorder reads at the end.
  std::map<EventId, double> told_;
};

}  // namespace profiler::profile
