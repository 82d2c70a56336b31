// The stage between the SAMPLE records of a recording and the consumer of samples.
//
//   SAMPLE ──▶ decode by its event's layout
//          ──▶ keep until its user call chain arrives, if the kernel deferred it
//          ──▶ split into shares, one for each event whose counter the sample read
//          ──▶ sink
//
// Deferred chains: since Linux 6.19, the kernel can unwind user space when the thread returns to
// it. It does so once for all samples that were taken in between. These samples have the same
// cookie. Each thread has its own cookies, one after the other. So a new cookie shows that the
// chain for the former cookie was lost.
//
//   SAMPLE tid 7       … kernel frames, ctx USER_DEFERRED, cookie 3
//   SAMPLE tid 7       … kernel frames, ctx USER_DEFERRED, cookie 3
//   CALLCHAIN_DEFERRED tid 7, cookie 3: ctx USER, user frames        completes both
//
// Groups that are read (PERF_SAMPLE_READ, `perf record -e '{cpu-clock,page-faults}:S'`): only the
// leader of the group takes samples, and each of them has the counters of all members. A member has
// a share of a sample if its counter increased since the former sample. The share's period is that
// increase.
//
//   sample                 1      2      3      4
//   cpu-clock   counter   10     20     30     40      shares 10, 10, 10, 10
//   page-faults counter    4      4      9      9      shares  4,  —,  5,  —
//
// Off-CPU samples of perf 6.15 and later (`perf record --off-cpu`): a BPF program writes one when
// the thread runs again, as a bpf-output event. The sample's own fields describe that moment and
// the thread that happened to run. The raw data describes the thread that slept:
//
//   u32 pid, tid; u64 nanoseconds; u64 nr; u64 call chain[nr]; u64 cgroup

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "src/format/perf_event/codec.h"
#include "src/profile/profile.h"

namespace profiler::profile {

// True if a sample of the event may change how a later sample counts: samples read counters, of
// which they count the increase, or their user call chains arrive later. If no event of a recording
// is such an event, any of its samples may be left out.
bool DependOnFormerOnes(const perf_event::Attr& attr);

// The part of a sample that counts for one event.
struct SampleShare {
  EventId event{};
  uint64_t period = 0;
};

// A sample as the sink receives it; valid during the call.
struct TakenSample {
  const perf_event::Sample& sample;
  const perf_event::RecordLayout& layout;  // layout of the record
  uint64_t time;                           // ns; 0: none
  std::span<const SampleShare> shares;     // at least one share
};

// The stage. Not thread-safe. Feed it in time order. Keeps records that wait for their user call
// chain, and a number for each counter that was read. Allocates nothing for samples that do not
// wait.
class Samples {
 public:
  using Sink = absl::FunctionRef<void(const TakenSample&)>;

  struct Event {
    perf_event::RecordLayout layout;
    uint64_t period;      // period of samples that do not carry a period
    bool counts_threads;  // True if each thread has its own counter under one id.
    bool is_monotonic;    // True if times are of CLOCK_MONOTONIC.
    bool is_raw_off_cpu;  // True if the raw data of each sample describes the thread that slept.
  };

  // Adds an event; events are numbered in the order of these calls. `ids` are the ids of the
  // event's counters. Samples refer to the counters that they read by these ids.
  void AddEvent(std::string_view name, const perf_event::Attr& attr, std::span<const uint64_t> ids);
  std::span<const Event> events() const { return events_; }
  // True if that is so for any event added so far.
  bool DependOnFormerOnes() const { return depend_on_former_ones_; }

  // Takes a SAMPLE record of an event. Returns false if the record is too short for its layout.
  bool Take(perf_event::RawRecord record, uint32_t event, uint64_t time, Sink sink);
  // Passes on the samples that this chain completes.
  void Complete(const perf_event::CallchainDeferred& deferred, Sink sink);
  // Passes on all samples that still wait, sorted by time, each with the available part of its call
  // chain.
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

  bool DecodeSample(perf_event::RawRecord record, const Event& event);
  // Passes on records that have waited. `user` is the awaited part of their call chains; empty if
  // it never came.
  void HandOn(std::span<const WaitingRecord> records, perf_event::U64Array user, Sink sink);
  void HandOn(const perf_event::Sample& sample, uint32_t event, uint64_t time, Sink sink);
  std::span<const SampleShare> SharesOf(const perf_event::Sample& sample, uint32_t event);

  std::vector<Event> events_;
  bool depend_on_former_ones_ = false;
  absl::flat_hash_map<uint64_t, EventId> event_of_id_;
  // The value of each counter at its last sample. Keyed by the counter's id and, if each thread has
  // its own counter under that id, by the tid.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint64_t> counters_;
  absl::flat_hash_map<uint32_t, WaitingThread> waiting_;  // keyed by tid
  // The present sample. Decode clears it.
  perf_event::Sample decoded_;
  std::vector<SampleShare> shares_;  // shares of the present sample
};

}  // namespace profiler::profile
