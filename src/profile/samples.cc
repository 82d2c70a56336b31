#include "src/profile/samples.h"

#include <linux/perf_event.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/off_cpu_events.h"
#include "src/format/perf_event/read_values.h"

namespace profiler::profile {
namespace {

using perf_event::RawRecord;
using perf_event::Sample;
using perf_event::U64Array;

// True if a call chain ends with the marker and the cookie of a deferred user part.
bool Waits(U64Array callchain) {
  const size_t size = callchain.size();
  return size >= 2 && callchain[size - 2] == perf_event::kContextUserDeferred;
}

// Returns the chain with the user part in place of the marker and the cookie.
std::vector<uint64_t> Join(U64Array callchain, U64Array user) {
  std::vector<uint64_t> joined;
  joined.reserve(callchain.size() + user.size());
  for (size_t i = 0; i + 2 < callchain.size(); ++i) joined.push_back(callchain[i]);
  if (user.empty() || !perf_event::IsContext(user[0])) {
    joined.push_back(perf_event::kContextUser);
  }
  for (size_t i = 0; i < user.size(); ++i) joined.push_back(user[i]);
  return joined;
}

bool IsRawOffCpu(std::string_view name, const perf_event::Attr& attr) {
  return attr.type == perf_event::kTypeSoftware && attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
         name == kBlockedEvent && (attr.sample_type & perf_event::kSampleRaw) != 0;
}

// Replaces the thread, the time off the CPU and the call chain by those in the raw data. Returns
// false if the raw data is too short. Source: perf's __set_offcpu_sample().
bool TakeFromRaw(const perf_event::RecordLayout& layout, Sample* sample) {
  constexpr size_t kThread = 0, kPeriod = 1, kChainSize = 2, kChain = 3;
  const U64Array words(sample->raw);
  if (words.size() <= kChain) return false;
  const uint64_t size = words[kChainSize];
  if (size > words.size() - kChain - 1) return false;  // the cgroup follows the chain
  std::memcpy(&sample->pid, sample->raw.data() + kThread, sizeof(uint32_t));
  std::memcpy(&sample->tid, sample->raw.data() + kThread + sizeof(uint32_t), sizeof(uint32_t));
  sample->period = words[kPeriod];
  sample->cgroup = words[kChain + size];
  const U64Array chain(sample->raw.subspan(kChain * sizeof(uint64_t), size * sizeof(uint64_t)));
  sample->callchain = {};
  if ((layout.sample_type & perf_event::kSampleCallchain) != 0) sample->callchain = chain;
  sample->ip = 0;
  for (size_t i = 0; i < chain.size() && sample->ip == 0; ++i) {
    if (!perf_event::IsContext(chain[i])) sample->ip = chain[i];
  }
  const bool in_kernel = !chain.empty() && chain[0] == perf_event::kContextKernel;
  sample->misc =
      static_cast<uint16_t>((sample->misc & ~perf_event::kMiscCpumodeMask) |
                            (in_kernel ? perf_event::kMiscKernel : perf_event::kMiscUser));
  return true;
}

}  // namespace

bool DependOnFormerOnes(const perf_event::Attr& attr) {
  return (attr.sample_type & perf_event::kSampleRead) != 0 ||
         attr.has(perf_event::kAttrDeferCallchain);
}

void Samples::AddEvent(std::string_view name, const perf_event::Attr& attr,
                       std::span<const uint64_t> ids) {
  for (const uint64_t id : ids) {
    event_of_id_.try_emplace(id, EventId(static_cast<uint32_t>(events_.size())));
  }
  depend_on_former_ones_ |= profile::DependOnFormerOnes(attr);
  // The attr's sample_period is also the period of events with a frequency, as in perf.
  events_.push_back(
      {.layout = perf_event::RecordLayout(attr),
       .period = attr.sample_period,
       .counts_threads = attr.has(perf_event::kAttrInherit),
       .is_monotonic = attr.has(perf_event::kAttrUseClockid) && attr.clockid == CLOCK_MONOTONIC,
       .is_raw_off_cpu = IsRawOffCpu(name, attr)});
}

bool Samples::DecodeSample(RawRecord record, const Event& event) {
  if (!Decode(record, event.layout, &decoded_)) return false;
  return !event.is_raw_off_cpu || TakeFromRaw(event.layout, &decoded_);
}

bool Samples::Take(RawRecord record, uint32_t event, uint64_t time, Sink sink) {
  const perf_event::RecordLayout& layout = events_[event].layout;
  if (!DecodeSample(record, events_[event])) return false;
  Sample& sample = decoded_;
  if (!Waits(sample.callchain)) [[likely]] {
    HandOn(sample, event, time, sink);
    return true;
  }
  WaitingThread& thread = waiting_[sample.tid];
  const uint64_t cookie = sample.callchain[sample.callchain.size() - 1];
  std::vector<WaitingRecord> given_up;
  if (thread.cookie != cookie) given_up.swap(thread.records);
  thread.cookie = cookie;
  thread.records.push_back({CopyInOnePiece(record, layout), event, time});
  HandOn(given_up, {}, sink);
  return true;
}

void Samples::Complete(const perf_event::CallchainDeferred& deferred, Sink sink) {
  const auto thread = waiting_.find(deferred.sample_id.tid);
  if (thread == waiting_.end() || thread->second.cookie != deferred.cookie) return;
  const std::vector<WaitingRecord> records = std::move(thread->second.records);
  waiting_.erase(thread);
  HandOn(records, deferred.callchain, sink);
}

void Samples::GiveUpWaiting(Sink sink) {
  std::vector<WaitingRecord> records;
  for (auto& [tid, thread] : waiting_) {
    std::move(thread.records.begin(), thread.records.end(), std::back_inserter(records));
  }
  waiting_.clear();
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.time < b.time; });
  HandOn(records, {}, sink);
}

void Samples::HandOn(std::span<const WaitingRecord> records, U64Array user, Sink sink) {
  for (const WaitingRecord& waited : records) {
    Sample& sample = decoded_;
    // Cannot fail, because the record was decoded before.
    DecodeSample(RawRecord(waited.bytes), events_[waited.event]);
    const std::vector<uint64_t> joined = Join(sample.callchain, user);
    sample.callchain = U64Array(std::as_bytes(std::span(joined)));
    HandOn(sample, waited.event, waited.time, sink);
  }
}

void Samples::HandOn(const Sample& sample, uint32_t event, uint64_t time, Sink sink) {
  const auto shares = SharesOf(sample, event);
  if (!shares.empty()) sink({sample, events_[event].layout, time, shares});
}

// Splits a sample into shares, as perf's evlist__deliver_sample() does. A counter without an event,
// or one that decreased, is ignored.
std::span<const SampleShare> Samples::SharesOf(const Sample& sample, uint32_t event) {
  const Event& read_by = events_[event];
  const uint64_t type = read_by.layout.sample_type;
  shares_.clear();
  if ((type & perf_event::kSampleRead) == 0 ||
      (read_by.layout.read_format & perf_event::kFormatId) == 0) {
    const bool has_period = (type & perf_event::kSamplePeriod) != 0;
    shares_.push_back({EventId(event), has_period ? sample.period : read_by.period});
    return shares_;
  }
  const perf_event::ReadValues values(sample.read, read_by.layout.read_format);
  for (size_t i = 0; i < values.size(); ++i) {
    const perf_event::CounterValue counter = values[i];
    const auto counted = event_of_id_.find(counter.id);
    if (counted == event_of_id_.end()) continue;
    uint64_t& last = counters_[{counter.id, read_by.counts_threads ? sample.tid : 0}];
    const uint64_t before = std::exchange(last, counter.value);
    if (counter.value > before) {
      shares_.push_back({counted->second, counter.value - before});
    }
  }
  return shares_;
}

}  // namespace profiler::profile
