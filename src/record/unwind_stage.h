// The stage between the rings and the file of a recording with --call-graph dwarf: registers and
// stack bytes go in, ordinary call chains come out.
//
//   rings ──▶ RingMerge ──▶ mappings, forks … ──▶ LiveSpaces ──▶ output, unchanged
//                      └──▶ samples ────────────▶ Unwinder ────▶ output, with CALLCHAIN
//
//   in    … CALLCHAIN ctx KERNEL k0 k1 │ REGS_USER │ STACK_USER
//   out   … CALLCHAIN ctx KERNEL k0 k1 ctx USER u0 u1 u2 …
//
// A chain is made only from the state at the sample: the registers and the stack that the kernel
// copied, and the frame pointers that it followed. If these do not lead to the thread's start, the
// chain is cut, and a mark with the reason ends it (symbolize::CutMarkOf). Neither earlier chains
// of the thread nor its later stack are used, because both may belong to other calls. Callers are
// listed as perf_data/FORMAT.md says.
//
// The kernel copies at most 64 KiB of a stack. A program in the kernel reads the rest of larger
// stacks at the sample (stacks/deep_threads.h). Its records, and those with the frames of Python,
// stand directly before the sample in the same ring.
//
// While a thread executes another program or exits, its user stack is gone, but its registers are
// still those of the system call. The chain of a sample at that time has only the kernel's part and
// the system call. The mappings of the former program are known until the next one runs.
//
// Frames and names of code that a virtual machine generates come from the machine's own tables
// while it runs (managed_processes.h). New names precede the sample that met them (code_dumps.h).
//
// With --off-cpu, context switches also pass this stage. The samples of context switches get chains
// here. Then the OffCpuStage takes them, together with SWITCH and similar records, and writes its
// own samples in place of them.

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
#include "src/base/status.h"
#include "src/format/perf_event/codec.h"
#include "src/machine/procfs/proc_file.h"
#include "src/machine/reader/readers.h"
#include "src/record/live_spaces.h"
#include "src/record/off_cpu_stage.h"
#include "src/record/return_probes.h"
#include "src/record/ring_merge.h"
#include "src/record/shared_memory.h"
#include "src/record/stacks/deep_threads.h"
#include "src/record/waiting_thread.h"
#include "symbolize/go/stack_switches.h"
#include "symbolize/unwind/chain_quality.h"
#include "symbolize/unwind/chain_tally.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::record {

// The layouts of one event's samples: in the rings, and in the file.
struct SampleLayouts {
  perf_event::RecordLayout opened, written;
  bool is_switch = false;  // True for a context switch, which goes to the OffCpuStage.
  bool is_entry = false;   // True for the companion of a return probe, which goes to ReturnProbes.
  bool is_return = false;  // True for a return probe.
  bool is_output = false;  // True for records that programs in the kernel write before a sample.
  std::string name = {};   // name of the event
};

// The stage. Use it from one thread. Once its buffers have grown, it allocates only for new
// mappings and images.
class UnwindStage {
 public:
  // `events` are the events of the recording, at least one. All their records must have times and
  // ids at the same positions. Samples of events without copied stacks go into the file unchanged.
  // `readers` may have been started already; null: the stage makes its own.
  UnwindStage(std::vector<SampleLayouts> events, const procfs::Roots& roots,
              std::unique_ptr<reader::Readers> readers = nullptr);

  // Returns the helper processes that read the memory of recorded processes.
  reader::Readers& readers() { return *readers_; }

  // Creates the OffCpuStage, for a recording with --off-cpu. Call it before any other function.
  void MakeOffCpu(OffCpuStageOptions options);
  OffCpuStage* off_cpu() { return off_cpu_ ? &*off_cpu_ : nullptr; }
  const OffCpuStage* off_cpu() const { return off_cpu_ ? &*off_cpu_ : nullptr; }

  // Notes that samples with this id belong to `events[event]`. Without ids, all samples belong to
  // the first event.
  void AddId(uint64_t id, size_t event);

  // Opens images from `kept`, as LiveSpaces does. Call it before anything is observed.
  void OpenKept(std::shared_ptr<const symbolize::KeptFiles> kept,
                std::function<void(const perf_event::Mmap2&)> keep) {
    spaces_.OpenKept(std::move(kept), std::move(keep));
  }

  // Follows the companions of return probes, which are all open from `time` on. Call it before
  // anything is observed.
  void FollowReturnProbes(uint64_t time) { return_probes_.Begin(time); }

  // Sets who walks the frames of Python in the kernel. Call it before anything is observed.
  void SetPythonWalker(python::Walker* walker) { spaces_.python().SetWalker(walker); }
  const python::Counts& python_counts() const { return spaces_.python().counts(); }

  // Sets who reads stacks that are larger than the copied bytes. Call it before anything is
  // observed.
  void SetStackFollower(StackFollower* follower) { deep_threads_.SetFollower(follower); }

  // Takes whole records that describe the processes already running when the recording begins.
  absl::Status Observe(std::span<const std::byte> records);

  // Takes one pass and sets how much of each ring is consumed. Records whose time is after the
  // beginning of the pass minus kPublishingMargin stay in the rings, unless the pass is the `last`
  // one. Returns kDataLoss for bytes that are no records.
  absl::Status Take(std::span<ringbuf::RingPass> rings, bool last);
  // Reads the stacks of waiting threads that have no sampled stack. Such a thread has waited for a
  // while, or was already waiting when recording began. The last pass over the rings began at
  // `passed` or later, so all records up to shortly before `passed` have been taken. `clock`
  // returns the present time. Both times are of CLOCK_MONOTONIC. Takes some milliseconds at most;
  // returns true if threads are left whose stacks were not read.
  bool ReadWaitingStacks(uint64_t passed, absl::FunctionRef<uint64_t()> clock);
  // Ends the recording at `time`: threads off the CPU count as waiting until then.
  void EndOffCpu(uint64_t time);
  // Returns the records of the last pass for the file. Valid until the next pass.
  std::span<const std::byte> output() const { return output_; }

  // Returns the weights of the chains of all files, one entry per event.
  std::vector<ChainWeights> weights() const;
  // Returns the quality of the chains since the last BeginFile, or since the beginning if there was
  // none.
  ChainQuality quality() const;
  void BeginFile() {
    tally_ = {};
    spaces_.python().BeginFile();
    if (off_cpu_) off_cpu_->threads().BeginFile();
  }
  uint64_t hurried() const { return merge_.hurried(); }

 private:
  void TakeRecord(perf_event::RawRecord record, int cpu);
  void KeepForSample(perf_event::RawRecord record, const SampleLayouts& layouts, int cpu);
  void ForgetKept(int cpu);
  void EndThread(perf_event::RawRecord record);
  void AppendLost(perf_event::RawRecord record);
  void AppendFrames(const perf_event::Sample& sample, const symbolize::RegisterSet& registers);
  void TakeForSharers(perf_event::RawRecord record);
  void TakeSample(perf_event::RawRecord record, const SampleLayouts& layouts);
  perf_event::Registers KeptRegisters(const perf_event::Registers& all, uint64_t mask);
  void CountLost(perf_event::RawRecord record);
  // Appends the user part of the sample's chain to chain_.
  void UnwindSample(const perf_event::Sample& sample, const symbolize::RegisterSet& registers,
                    bool in_user_code);
  void FollowDeepStack(const perf_event::Sample& sample, const symbolize::StackWords* words);
  void FindPartBehindSwitch(const perf_event::Sample& sample, symbolize::StackBytes stack,
                            uint64_t frame_pointer);
  bool GoOnWithoutC(const perf_event::Sample& sample, symbolize::StackBytes stack);
  void Append(uint64_t instruction);
  void CountWhole(bool guessed);
  void Cut(symbolize::ChainEnd end);
  void CutUnfinished(const perf_event::Sample& sample, symbolize::StackBytes stack);

  void TakeSwitchSample(perf_event::RawRecord record, const SampleLayouts& layouts);
  // Reads the stack of a thread into chain_. Returns false if the thread runs, or ran meanwhile.
  bool UnwindWaiting(const OffCpu::Waiting& waiting, absl::FunctionRef<uint64_t()> clock);

  const SampleLayouts& LayoutsOf(perf_event::RawRecord sample) const;

  const std::unique_ptr<reader::Readers> readers_;
  const std::vector<SampleLayouts> events_;
  std::vector<ChainWeights> weights_;  // indexed like events_
  absl::flat_hash_map<uint64_t, size_t> event_of_id_;
  uint64_t id_of_first_event_ = 0;  // one of its ids
  RingMerge merge_;
  LiveSpaces spaces_;
  ReturnProbes return_probes_;
  SharedMemory shared_memory_;
  std::vector<std::byte> of_sharers_;  // records added for processes that share memory
  symbolize::Unwinder unwinder_{symbolize::GoStackSwitches()};
  symbolize::ChainTally tally_;
  std::vector<std::byte> output_;
  std::optional<OffCpuStage> off_cpu_;
  const procfs::Roots roots_;
  WaitingStack waiting_;  // the waiting thread's stack that was read last

  // The records of programs in the kernel, directly before the next sample in the ring of a CPU.
  struct KeptForSample {
    uint32_t tid = 0;
    std::vector<std::byte> python;  // frames of Python; empty: none
    DeliveredStack stack;
  };
  absl::flat_hash_map<int, KeptForSample> kept_;  // keyed by CPU
  DeepThreads deep_threads_;

  // State of the present sample.
  int cpu_ = 0;                      // the CPU of its ring
  std::vector<uint64_t> chain_;      // the chain as the file gets it
  std::vector<uint64_t> registers_;  // the registers as the file gets them
  size_t kernel_entries_ = 0;        // number of the chain's entries in the kernel
  size_t stack_bytes_ = 0;           // number of stack bytes that were requested
  bool is_switch_ = false;           // True for a context switch.
  std::optional<uint64_t> leaf_;     // instruction that replaces the sample's ip
  bool overflowed_ = false;          // True if the chain did not fit.
  symbolize::UnwoundChain unwound_;
  symbolize::UnwoundChain piece_;      // scratch: the chain behind a call from C to Go
  std::vector<uint64_t> kernel_part_;  // scratch: user part of the kernel's chain
  std::vector<uint64_t> behind_;       // scratch: callers behind a switch of stacks
};

}  // namespace profiler::record
