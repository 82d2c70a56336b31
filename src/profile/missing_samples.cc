#include "src/profile/missing_samples.h"

#include <algorithm>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"

namespace profiler::profile {
namespace {

using perf_event::RawRecord;
using perf_event::RecordLayout;

// perf sets this in LOST_SAMPLES for samples that a filter left out as requested.
constexpr uint16_t kMiscFilteredByBpf = 1 << 15;

// Returns the trailing fields of a record. Every record except SAMPLE ends with them. A SWITCH
// record has no other fields, so it is decoded to get them.
perf_event::SampleId SampleIdOf(RawRecord record, const RecordLayout& layout) {
  perf_event::Switch any;
  Decode(record, layout, &any);
  return any.sample_id;
}

void PutWeights(std::span<const uint32_t> samples, std::span<const Gap> gaps, Profile& profile) {
  if (gaps.empty()) return;
  const std::vector<Placeholder> placeholders = PlaceholdersFor(samples.size(), gaps);
  for (size_t i = 0; i < samples.size(); ++i) {
    OrderedSample& sample = profile.order[samples[i]];
    const float before = sample.weight - 1, more = placeholders[i].weight - 1;
    if (more <= 0) continue;
    sample.gap = (sample.gap * before + placeholders[i].gap * more) / (before + more);
    sample.weight += more;
  }
}

// Raises all weights evenly, for missing samples at unknown places.
void SpreadEvenly(std::span<const uint32_t> samples, double missing, Profile& profile) {
  double all = 0;
  for (const uint32_t i : samples) all += profile.order[i].weight;
  if (missing <= 0 || all == 0) return;
  const double factor = (all + std::min(missing, kMostInGap)) / all;
  for (const uint32_t i : samples) {
    OrderedSample& sample = profile.order[i];
    sample.weight = static_cast<float>(sample.weight * factor);
    sample.gap = std::max(sample.gap, 1.0f);
  }
}

}  // namespace

void MissingSamples::AddEvent(const perf_event::Attr& attr) {
  constexpr uint64_t kCpuClock = 0, kTaskClock = 1;
  is_clock_.push_back(attr.type == perf_event::kTypeSoftware &&
                      (attr.config == kCpuClock || attr.config == kTaskClock));
}

void MissingSamples::AddRecord(uint32_t stream, std::optional<uint32_t> tid) {
  ++all_records_;
  ++records_[stream];
  if (tid) of_thread_[*tid] = stream;
}

void MissingSamples::AddSample(EventId event, uint32_t stream, uint64_t time, size_t behind) {
  Stream& of = streams_[{event, stream}];
  if (of.samples++ == 0) of.first = time;
  // The kernel reports throttling right before the sample that exceeded the limit. Another sample
  // shows that throttling has ended, even if the record of that was lost.
  if (of.throttled_since && ++of.since_then > 1) EndThrottling({event, stream}, time, behind);
  of.last = time;
}

void MissingSamples::Take(RawRecord record, EventId event, const RecordLayout& layout,
                          uint64_t time, size_t behind) {
  if (!selection_.HasTime(time)) return;
  const perf_event::SampleId id = SampleIdOf(record, layout);
  const std::optional<uint32_t> stream = StreamOf(layout, id);
  if (stream && !selection_.HasCpu(*stream)) return;
  switch (record.type()) {
    case perf_event::kRecordLost: {
      perf_event::Lost lost;
      if (!Decode(record, layout, &lost)) return;
      lacks_.push_back(
          {.stream = stream, .before = behind, .amount = static_cast<double>(lost.lost)});
      return;
    }
    case perf_event::kRecordLostSamples: {
      perf_event::LostSamples lost;
      if (!Decode(record, layout, &lost) || (record.misc() & kMiscFilteredByBpf) != 0) return;
      const auto amount = static_cast<double>(lost.lost);
      const bool has_event = id.id != 0 || is_clock_.size() == 1;
      if (time == 0 && has_event) {
        if (selection_.HasAll()) told_[event] += amount;
        return;
      }
      lacks_.push_back({.event = has_event ? std::optional(event) : std::nullopt,
                        .stream = stream,
                        .before = behind,
                        .amount = amount});
      return;
    }
    case perf_event::kRecordThrottle:
      if (stream) {
        EndThrottling({event, *stream}, time, behind);
        Stream& of = streams_[{event, *stream}];
        of.throttled_since = time;
        of.since_then = 0;
      }
      return;
    case perf_event::kRecordUnthrottle:
      if (stream) EndThrottling({event, *stream}, time, behind);
      return;
    default:
      // Recorders add records about the state before the recording, without a time or in front of
      // all samples. These are never lost, so they do not count.
      if (stream && records_.contains(*stream)) {
        ++all_records_;
        ++records_[*stream];
      }
      return;
  }
}

std::optional<uint32_t> MissingSamples::StreamOf(const RecordLayout& layout,
                                                 const perf_event::SampleId& id) const {
  if (!layout.sample_id_all) return std::nullopt;
  if ((layout.sample_type & perf_event::kSampleCpu) != 0) return id.cpu;
  // Streams are threads if samples do not have their CPU. The record then belongs to the stream of
  // its thread, which runs on the CPU whose ring lost records.
  const auto found = of_thread_.find(id.tid);
  return found == of_thread_.end() ? std::nullopt : std::optional(found->second);
}

void MissingSamples::EndThrottling(StreamId id, uint64_t time, size_t behind) {
  Stream& of = streams_[id];
  if (!of.throttled_since) return;
  const uint64_t since = *of.throttled_since;
  of.throttled_since.reset();
  if (time <= since) return;
  const auto nanoseconds = static_cast<double>(time - since);
  of.throttled += nanoseconds;
  lacks_.push_back({.event = id.first,
                    .stream = id.second,
                    .before = behind,
                    .amount = nanoseconds,
                    .is_time = true});
}

// Returns the mean time between neighbouring samples of a stream, in ns; 0 if unknown.
double MissingSamples::DistanceOf(const Profile& profile, StreamId id) const {
  const Event& event = profile[id.first];
  if (is_clock_[static_cast<uint32_t>(id.first)] && event.samples != 0) {
    return static_cast<double>(event.period) / static_cast<double>(event.samples);
  }
  const Stream& of = streams_.at(id);
  if (of.samples < 2 || of.last <= of.first) return 0;
  const double taking = static_cast<double>(of.last - of.first) - of.throttled;
  return std::max(0.0, taking) / static_cast<double>(of.samples - 1);
}

std::vector<EventId> MissingSamples::EventsOf(const Lack& lack, const Profile& profile) const {
  if (lack.event) return {*lack.event};
  std::vector<EventId> events;
  for (uint32_t i = 0; i < profile.events.size(); ++i) events.push_back(EventId{i});
  return events;
}

// Returns the number of samples of the event that a loss comprises. A CPU's ring has records of all
// events, and other records. Samples are assumed to be lost in proportion to the written records.
double MissingSamples::SamplesOf(const Lack& lack, EventId event, const Profile& profile) const {
  if (lack.is_time) {
    const double distance = DistanceOf(profile, {event, *lack.stream});
    return distance > 0 ? lack.amount / distance : 0;
  }
  if (lack.event) return lack.amount;
  auto samples = static_cast<double>(profile[event].samples);
  auto records = static_cast<double>(all_records_);
  if (lack.stream) {
    const auto stream = streams_.find({event, *lack.stream});
    samples = stream == streams_.end() ? 0 : static_cast<double>(stream->second.samples);
    records = static_cast<double>(records_.at(*lack.stream));
  }
  return records == 0 ? 0 : lack.amount * samples / records;
}

// Divides each loss among the events whose samples it comprises.
std::vector<MissingSamples::Missing> MissingSamples::ByEvent(const Profile& profile,
                                                             const Parts& parts) const {
  std::vector<Missing> all;
  for (Lack lack : lacks_) {
    const std::vector<EventId> events = EventsOf(lack, profile);
    const bool is_in_stream = std::any_of(events.begin(), events.end(), [&](EventId event) {
      return parts.contains({event, lack.stream});
    });
    // If a CPU has no sample at all, the samples of other CPUs stand for its missing ones.
    if (!is_in_stream && !lack.is_time) lack.stream.reset();
    for (const EventId event : events) {
      if (!parts.contains({event, lack.stream})) continue;
      all.push_back({.part = {event, lack.stream},
                     .gap = {lack.before, SamplesOf(lack, event, profile)},
                     .was_lost = !lack.is_time});
    }
  }
  return all;
}

std::map<EventId, double> MissingSamples::LostByEvent(std::span<const Missing> all) {
  std::map<EventId, double> lost;
  for (const Missing& missing : all) {
    if (missing.was_lost) lost[missing.part.first] += std::min(missing.gap.samples, kMostInGap);
  }
  return lost;
}

void MissingSamples::Weigh(Profile& profile) {
  // The last sample of a stream, of any event, ends throttling that lasts until the recording ends.
  std::map<uint32_t, uint64_t> ends;
  for (const auto& [id, of] : streams_) {
    ends[id.second] = std::max(ends[id.second], of.last);
  }
  for (const auto& [id, of] : streams_) EndThrottling(id, ends[id.second], profile.order.size());
  if (lacks_.empty() && told_.empty()) return;

  Parts parts;
  for (uint32_t i = 0; i < profile.order.size(); ++i) {
    const OrderedSample& sample = profile.order[i];
    const EventId event = profile.rows[sample.row].event;
    parts[{event, sample.stream}].samples.push_back(i);
    parts[{event, std::nullopt}].samples.push_back(i);
  }
  std::vector<Missing> all = ByEvent(profile, parts);
  std::map<EventId, double> located = LostByEvent(all);
  for (Missing& missing : all) {
    Part& part = parts.at(missing.part);
    // If the gaps contain more samples than the counters report, some of the lost records were not
    // samples.
    const auto told = told_.find(missing.part.first);
    const double lost = located[missing.part.first];
    if (missing.was_lost && told != told_.end() && told->second < lost) {
      missing.gap.samples *= told->second / lost;
    }
    const auto place =
        std::lower_bound(part.samples.begin(), part.samples.end(), missing.gap.before);
    missing.gap.before = static_cast<size_t>(place - part.samples.begin());
    part.gaps.push_back(missing.gap);
  }
  for (const auto& [id, part] : parts) PutWeights(part.samples, part.gaps, profile);
  for (const auto& [event, told] : told_) {
    SpreadEvenly(parts[{event, std::nullopt}].samples, told - located[event], profile);
  }
}

}  // namespace profiler::profile
