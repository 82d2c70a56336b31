// The stage between the rings and the file of a recording with --call-graph dwarf: registers and
// stack bytes go in, ordinary call chains come out.
//
//   rings ──▶ RingMerge ──▶ mappings, forks … ──▶ LiveSpaces   ──▶ output, as they are
//                      └──▶ samples ──▶ Unwinder            ──▶ output, with CALLCHAIN
//
//   in    … CALLCHAIN ctx KERNEL k0 k1 │ REGS_USER │ STACK_USER
//   out   … CALLCHAIN ctx KERNEL k0 k1 ctx USER u0 u1 u2 …
//
// A chain has what was there at the sample: registers and stack as the kernel copied them, and the
// frame pointers that the kernel followed. If these do not lead to the thread's start, the chain is
// cut, and a mark with the reason ends it (symbolize::CutMarkOf). Nothing is taken from earlier
// chains of the thread, nor from its stack as it is later: both may belong to other calls.
// Callers are listed as perf_data/FORMAT.md says.
//
// While a thread executes another program or exits, its user stack is gone and its registers are
// still those of the system call. The chain of such a sample has the kernel's part and the system
// call alone. What the former program had mapped is known until the next one runs.
//
// Of what a virtual machine makes, its own tables tell frames and names while it runs
// (managed_processes.h); what they tell for the first time stands in front of the sample that met
// it (code_dumps.h).
//
// With --off-cpu, context switches go through here as well: their samples get their chains and,
// with SWITCH and the like, go on to the OffCpuStage, whose samples come out in their place.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "ringbuf/drain_loop.h"
#include "src/base/chain_quality.h"
#include "src/base/status.h"
#include "src/perf_event/codec.h"
#include "src/procfs/proc_file.h"
#include "src/reader/readers.h"
#include "src/record/live_spaces.h"
#include "src/record/off_cpu_stage.h"
#include "src/record/return_probes.h"
#include "src/record/ring_merge.h"
#include "src/record/shared_memory.h"
#include "src/record/waiting_thread.h"
#include "symbolize/unwind/chain_tally.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::record {

// How one event's samples are laid out: in the rings, and in the file.
struct SampleLayouts {
  perf_event::RecordLayout opened, written;
  bool is_switch = false;  // a context switch, for the OffCpuStage
  bool is_entry = false;   // the companion of a return probe, for ReturnProbes
  bool is_return = false;  // a return probe
  std::string name = {};   // the event's
};

// One thread. Allocates nothing a sample once its buffers have grown; new mappings and images
// excepted.
class UnwindStage {
 public:
  // `events` are the recording's, at least one. Times and ids stand at the same places in all of
  // their records. Samples of events without copied stacks go into the file as they are.
  // `readers` may have been started already; null: it has its own.
  UnwindStage(std::vector<SampleLayouts> events, const procfs::Roots& roots,
              std::unique_ptr<reader::Readers> readers = nullptr);

  // The processes that read the memory of others.
  reader::Readers& readers() { return *readers_; }

  // Before all else, for a recording with --off-cpu.
  void MakeOffCpu(OffCpuStageOptions options);
  OffCpuStage* off_cpu() { return off_cpu_ ? &*off_cpu_ : nullptr; }
  const OffCpuStage* off_cpu() const { return off_cpu_ ? &*off_cpu_ : nullptr; }

  // Samples with this id are of that event, by its place in `events`. Without ids, all are of the
  // first.
  void AddId(uint64_t id, size_t event);

  // As LiveSpaces has it; before anything is observed.
  void OpenKept(std::shared_ptr<const symbolize::KeptFiles> kept,
                std::function<void(const perf_event::Mmap2&)> keep) {
    spaces_.OpenKept(std::move(kept), std::move(keep));
  }

  // Before anything is observed, for a recording with companions of return probes: all of them are
  // open at `time`.
  void FollowReturnProbes(uint64_t time) { return_probes_.Begin(time); }

  // What already runs, as it stands in front of the recording: whole records.
  absl::Status Observe(std::span<const std::byte> records);

  // One pass: sets how much of each ring is consumed. What is not older than the pass by
  // kPublishingMargin stays in the rings, unless it is the `last` one. kDataLoss for bytes that are
  // no records.
  absl::Status Take(std::span<ringbuf::RingPass> rings, bool last);
  // Reads the stacks of threads that wait and have none: those that waited when recording began,
  // and those that have waited for a while. A pass began at `passed` or later; `clock` gives the
  // time, both of CLOCK_MONOTONIC. Takes some milliseconds at most; true if threads are left.
  bool ReadWaitingStacks(uint64_t passed, absl::FunctionRef<uint64_t()> clock);
  // The recording ends at `time`: whoever is off the CPU has been so up to now.
  void EndOffCpu(uint64_t time);
  // The records of the last pass as they go into the file. Valid until the next one.
  std::span<const std::byte> output() const { return output_; }

  // The weight of the chains of all files, by event.
  std::vector<ChainWeights> weights() const;
  // Of the chains of the file at hand; the first begins with this object.
  ChainQuality quality() const;
  void BeginFile() {
    tally_ = {};
    if (off_cpu_) off_cpu_->threads().BeginFile();
  }
  uint64_t hurried() const { return merge_.hurried(); }

 private:
  void TakeRecord(perf_event::RawRecord record);
  void TakeForSharers(perf_event::RawRecord record);
  void TakeSample(perf_event::RawRecord record, const SampleLayouts& layouts);
  perf_event::Registers KeptRegisters(const perf_event::Registers& all, uint64_t mask);
  void CountLost(perf_event::RawRecord record);
  // Appends the user part of the sample's chain to chain_.
  void UnwindSample(const perf_event::Sample& sample, const symbolize::RegisterSet& registers,
                    bool in_user_code);
  void FindPartBehindSwitch(const perf_event::Sample& sample, symbolize::StackBytes stack,
                            uint64_t frame_pointer);
  bool GoOnWithoutC(const perf_event::Sample& sample, symbolize::StackBytes stack);
  void Append(uint64_t instruction);
  void CountWhole(bool guessed);
  void Cut(symbolize::ChainEnd end);
  void CutUnfinished(const perf_event::Sample& sample, symbolize::StackBytes stack);

  void TakeSwitchSample(perf_event::RawRecord record, const SampleLayouts& layouts);
  // Reads the stack of a thread into chain_. False if the thread runs, or ran meanwhile.
  bool UnwindWaiting(const OffCpu::Waiting& waiting, absl::FunctionRef<uint64_t()> clock);

  const SampleLayouts& LayoutsOf(perf_event::RawRecord sample) const;

  const std::unique_ptr<reader::Readers> readers_;
  const std::vector<SampleLayouts> events_;
  std::vector<ChainWeights> weights_;  // by event, as events_
  absl::flat_hash_map<uint64_t, size_t> event_of_id_;
  RingMerge merge_;
  LiveSpaces spaces_;
  ReturnProbes return_probes_;
  SharedMemory shared_memory_;
  std::vector<std::byte> of_sharers_;  // records that it adds
  symbolize::Unwinder unwinder_;
  symbolize::ChainTally tally_;
  std::vector<std::byte> output_;
  std::optional<OffCpuStage> off_cpu_;
  const procfs::Roots roots_;
  WaitingStack waiting_;  // that was read last

  // Of the sample at hand.
  std::vector<uint64_t> chain_;      // as written
  std::vector<uint64_t> registers_;  // likewise
  size_t kernel_entries_ = 0;        // of it
  size_t stack_bytes_ = 0;           // asked for
  std::optional<uint64_t> leaf_;     // what stands for its ip
  bool overflowed_ = false;          // there was more than it may hold
  symbolize::UnwoundChain unwound_;
  symbolize::UnwoundChain piece_;  // what is behind a call of Go by C
  std::vector<uint64_t> behind_;   // a switch of stacks
};

}  // namespace profiler::record
