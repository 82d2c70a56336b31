// Where a recording lacks samples, from the records that say so, and what the samples that it has
// weigh to make up for them.
//
//   LOST            a CPU's ring had no room for so many records since the record before it
//   LOST_SAMPLES    so many samples of an event were not written
//   THROTTLE …      an event took no samples on a CPU, as there were too many
//     … UNTHROTTLE  until now
//
// Each is a gap in the stream of one event on one CPU (or of one thread, where samples do not say
// their CPU), and the samples around it stand for what is missing in it (stand_ins.h). What does
// not say its CPU is a gap in the samples of all CPUs, and what does not say its event is one of
// all events.
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
#include "src/perf_event/attr.h"
#include "src/perf_event/codec.h"
#include "src/profile/profile.h"
#include "src/profile/sample_selection.h"
#include "src/profile/stand_ins.h"

namespace profiler::profile {

// Fed in time order. Not thread-safe. Memory: by streams, and by gaps.
class MissingSamples {
 public:
  // What is missing elsewhere is of no concern. `selection` must outlive it.
  explicit MissingSamples(const SampleSelection& selection) : selection_(selection) {}

  // Events are numbered in the order of these calls.
  void AddEvent(const perf_event::Attr& attr);

  // A SAMPLE record of a stream. `tid`: of the thread whose stream it is, where streams are
  // threads.
  void AddRecord(uint32_t stream, std::optional<uint32_t> tid);
  // The next sample of Profile::order, which has `behind` so far; more than one for a record that
  // read the counters of a group.
  void AddSample(EventId event, uint32_t stream, uint64_t time, size_t behind);
  // Any other record.
  void Take(perf_event::RawRecord record, EventId event, const perf_event::RecordLayout& layout,
            uint64_t time, size_t behind);

  // Gives the samples of Profile::order their weights.
  void Weigh(Profile& profile);

 private:
  // Of one event.
  struct Stream {
    uint64_t samples = 0;
    uint64_t first = 0, last = 0;  // times of samples
    double throttled = 0;          // nanoseconds
    // Since when the event takes no samples, and how many it took since nevertheless.
    std::optional<uint64_t> throttled_since;
    uint64_t since_then = 0;
  };
  using StreamId = std::pair<EventId, uint32_t>;

  // What is missing somewhere.
  struct Lack {
    std::optional<EventId> event;
    std::optional<uint32_t> stream;
    size_t before = 0;  // of Profile::order: the first sample that came later
    // Samples of the event, or records where that is not known; nanoseconds without samples.
    double amount = 0;
    bool is_time = false;
  };

  // The samples of one event, in one stream or in all.
  struct Part {
    std::vector<uint32_t> samples;  // of Profile::order
    std::vector<Gap> gaps;
  };
  using PartId = std::pair<EventId, std::optional<uint32_t>>;
  using Parts = std::map<PartId, Part>;
  struct Missing {
    PartId part;
    Gap gap;
    bool was_lost = false;  // else its event was throttled
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
  std::vector<bool> is_clock_;  // by event: periods are nanoseconds
  uint64_t all_records_ = 0;
  absl::flat_hash_map<uint32_t, uint64_t> records_;    // by stream: of all types
  absl::flat_hash_map<uint32_t, uint32_t> of_thread_;  // by tid, where streams are threads
  std::map<StreamId, Stream> streams_;
  std::vector<Lack> lacks_;
  // By event: the samples lost in all, as a recorder reads it from the counters at the end.
  std::map<EventId, double> told_;
};

}  // namespace profiler::profile
