// The stage between the SAMPLE records of a recording and whoever counts or shows samples.
//
//   SAMPLE ──▶ decode by its event's layout
//          ──▶ keep until its user call chain comes, where the kernel deferred that
//          ──▶ split into shares: what it counts for each event whose counter it read
//          ──▶ sink
//
// A deferred chain: the kernel (6.19) unwinds user space only when the thread returns to it, once
// for all samples that were taken meanwhile. Cookies are a thread's own, so a new one says that the
// chain of the old one was lost.
//
//   SAMPLE tid 7       … kernel frames, ctx USER_DEFERRED, cookie 3
//   SAMPLE tid 7       … kernel frames, ctx USER_DEFERRED, cookie 3
//   CALLCHAIN_DEFERRED tid 7, cookie 3: ctx USER, user frames        both are whole now
//
// A group that is read (PERF_SAMPLE_READ, `perf record -e '{cpu-clock,page-faults}:S'`): only the
// leader of the group takes samples, and each of them has the counters of all members. A member
// has a share of a sample if its counter moved since the sample before; the share's period says how
// far.
//
//   sample                 1      2      3      4
//   cpu-clock   counter   10     20     30     40      shares 10, 10, 10, 10
//   page-faults counter    4      4      9      9      shares  4,  —,  5,  —
//
// An off-CPU sample of perf 6.15 and later (`perf record --off-cpu`): a BPF program writes it when
// the thread runs again, as a bpf-output event. The sample's own fields describe that moment and
// whichever thread ran; the raw data has the thread that slept:
//
//   u32 pid, tid; u64 nanoseconds; u64 nr; u64 call chain[nr]; u64 cgroup
//
// Private to this package.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "src/perf_event/codec.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// What a sample counts for one event.
struct SampleShare {
  EventId event{};
  uint64_t period = 0;
};

// A sample as the sink gets it; valid during the call.
struct TakenSample {
  const perf_event::Sample& sample;
  const perf_event::RecordLayout& layout;  // of the record
  uint64_t time;                           // nanoseconds; 0: none
  std::span<const SampleShare> shares;     // at least one
};

// Fed in time order. Not thread-safe. Memory: the records that wait for their user call chain, and
// a number for each counter that was read. Allocates nothing for samples that do not wait.
class Samples {
 public:
  using Sink = absl::FunctionRef<void(const TakenSample&)>;

  struct Event {
    perf_event::RecordLayout layout;
    uint64_t period;      // of a sample that does not say
    bool counts_threads;  // each thread has a counter of its own, under one id
    bool is_monotonic;    // times are of CLOCK_MONOTONIC
    bool is_raw_off_cpu;  // True if the raw data of each sample describes the thread that slept.
  };

  // Events are numbered in the order of these calls. Samples name the counters that they read by
  // `ids`, those of this event.
  void AddEvent(std::string_view name, const perf_event::Attr& attr, std::span<const uint64_t> ids);
  std::span<const Event> events() const { return events_; }

  // A SAMPLE record of one of the events. False for one that is too short for its layout.
  bool Take(perf_event::RawRecord record, uint32_t event, uint64_t time, Sink sink);
  // Hands on the samples that this chain completes.
  void Complete(const perf_event::CallchainDeferred& deferred, Sink sink);
  // Hands on, by time, all samples that still wait, with as much of their call chains as there is.
  void GiveUpWaiting(Sink sink);

 private:
  struct WaitingRecord {
    std::vector<std::byte> bytes;
    uint32_t event;
    uint64_t time;
  };
  struct WaitingThread {
    uint64_t cookie = 0;
    std::vector<WaitingRecord> records;
  };

  // `user`: the part of the call chains that they waited for; empty where it never came.
  bool DecodeSample(perf_event::RawRecord record, const Event& event);
  void HandOn(std::span<const WaitingRecord> records, perf_event::U64Array user, Sink sink);
  void HandOn(const perf_event::Sample& sample, uint32_t event, uint64_t time, Sink sink);
  std::span<const SampleShare> SharesOf(const perf_event::Sample& sample, uint32_t event);

  std::vector<Event> events_;
  absl::flat_hash_map<uint64_t, EventId> event_of_id_;
  // By counter id and, where each thread has its own, tid: the counter at its last sample.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint64_t> counters_;
  absl::flat_hash_map<uint32_t, WaitingThread> waiting_;  // by tid
  perf_event::Sample decoded_;  // the one at hand: Decode clears it, so that nobody else has to
  std::vector<SampleShare> shares_;  // of the one at hand
};

}  // namespace profiler::profile
