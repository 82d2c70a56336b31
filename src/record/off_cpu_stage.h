// Turns the records of context switches into samples, for a recording with --off-cpu. Each time
// that a thread was off the CPU becomes a sample of one of two events. The sample's period is the
// duration of that time in ns.
//
//   SAMPLE context-switches ─┐
//   SWITCH, FORK, EXIT      ─┴─▶ OffCpu ──▶ SAMPLE offcpu-time      blocked
//                                      └──▶ SAMPLE preempted-time   preempted
//
// A sample's time is when the thread came back. If several short times were summed up, it is the
// end of the last one. The chain begins with the kernel function that waits. Scheduler functions,
// which all chains have in common, are left out, as in /proc/PID/wchan.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/codec.h"
#include "src/record/off_cpu.h"
#include "symbolize/symbols/kernel_symbols.h"
#include "symbolize/unwind/chain_quality.h"

namespace profiler::record {

struct OffCpuStageOptions {
  perf_event::RecordLayout sideband;  // layout of all records except samples
  perf_event::RecordLayout written;   // layout of the samples that the stage makes
  uint64_t blocked_id = 0, preempted_id = 0;
  // In ns. Shorter times are summed up by thread and chain, and become one sample at the end.
  uint64_t least_duration = 0;
  bool keeps_switches = false;  // True if SWITCH records also go into the file.
  // Process whose exec starts the counting of times; 0: Begin starts it.
  uint32_t begins_with_exec_of = 0;
  symbolize::KernelSymbols::Range scheduler;
  // True if the user parts of chains are unwound here instead of by the kernel.
  bool unwinds = false;
};

// The kernel entry that blocked a thread, from its chain or /proc. `addresses` are the outermost
// ones of the chain's kernel part, outermost first and padded with zeroes.
struct KernelEntry {
  std::array<uint64_t, 5> addresses{};
  int64_t system_call = kNoCall;

  bool operator==(const KernelEntry&) const = default;
  template <class H>
  friend H AbslHashValue(H hash, const KernelEntry& entry) {
    return H::combine(std::move(hash), entry.addresses, entry.system_call);
  }
};
// Blocked times in ns, keyed by the entry.
using BlockedTimes = absl::flat_hash_map<KernelEntry, uint64_t>;

// The key of a sum of short times: they have the same kind, thread and chain.
struct ShortWaits {
  WaitKind kind = WaitKind::kBlocked;
  uint32_t pid = 0, tid = 0;
  std::vector<uint64_t> chain;

  bool operator==(const ShortWaits&) const = default;
  template <class H>
  friend H AbslHashValue(H hash, const ShortWaits& waits) {
    return H::combine(std::move(hash), waits.kind, waits.pid, waits.tid, waits.chain);
  }
};

// The stage. Use it from one thread. Does not allocate per record once it knows the threads and its
// buffers have grown.
class OffCpuStage {
 public:
  // Samples are appended to `*output`.
  OffCpuStage(OffCpuStageOptions options, std::vector<std::byte>* output);

  void Begin(uint64_t time) { off_cpu_.Begin(time); }
  void Pause(uint64_t time) { off_cpu_.Pause(time); }
  void End(uint64_t time);
  OffCpu& threads() { return off_cpu_; }
  const OffCpu& threads() const { return off_cpu_; }

  // Takes any record except a sample. Returns false if the record does not go into the file.
  bool Take(perf_event::RawRecord record);
  // Takes a sampled context switch with its chain.
  void TakeSample(const perf_event::Sample& sample, std::span<const uint64_t> chain) {
    off_cpu_.TakeSample(sample.pid, sample.tid, chain);
  }

  // Returns the switches per second of the busiest CPU, measured over about 20 ms before `now`.
  uint64_t switch_rate(uint64_t now) const;
  const BlockedTimes& blocked() const { return blocked_; }
  // Returns how much time belongs to complete chains and to cut chains: [0] for blocked times, [1]
  // for preempted times. Zero if the kernel makes the chains.
  const std::array<ChainWeights, 2>& weights() const { return weights_; }

 private:
  void TakeSwitch(perf_event::RawRecord record);
  void CountSwitch(uint32_t cpu, uint64_t time);
  void Take(const Wait& wait);
  void Write(const Wait& wait);
  void WriteShortWaits();
  std::span<const uint64_t> WithoutScheduler(std::span<const uint64_t> chain);
  static KernelEntry EntryOf(const Wait& wait);

  const OffCpuStageOptions options_;
  std::vector<std::byte>& output_;
  OffCpu off_cpu_;
  BlockedTimes blocked_;
  std::array<ChainWeights, 2> weights_;
  // Sums of short waits, each with the end of its last wait.
  absl::flat_hash_map<ShortWaits, Wait> short_waits_;
  std::vector<uint64_t> chain_;  // scratch of WithoutScheduler
  // The present window, in which switches are counted.
  uint64_t window_began_ = 0;
  std::vector<uint32_t> switches_;  // number of switches in the window, indexed by CPU
  uint64_t rate_ = 0;               // switches per second in the last complete window
};

}  // namespace profiler::record
