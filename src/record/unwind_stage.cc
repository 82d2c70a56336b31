#include "src/record/unwind_stage.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"
#include "src/record/python/copied_memory.h"
#include "symbolize/go/kernel_chain.h"
#include "symbolize/go/switching_call.h"

namespace profiler::record {
namespace {

using perf_event::RawRecord;
using symbolize::ChainEnd;
using symbolize::UnwoundFrame;

// Limit for the number of entries of a call chain, including markers. A record with such a chain
// has room for its other contents.
constexpr size_t kMostEntries = 8000;
// How long a thread waits, in ns, before its stack is read from its process. Shorter waits get a
// stack only from their sample.
constexpr uint64_t kWaitsForStack = 5'000'000;
// Limits for one call of ReadWaitingStacks: its time in ns, and the number of threads that it looks
// up at once. Rings are not read during the call.
constexpr uint64_t kWaitingTime = 5'000'000;
constexpr size_t kWaitingAtOnce = 16;
// Bytes to read of a waiting thread's stack: the second size if the chain does not end within the
// first.
constexpr size_t kWaitingStacks[] = {size_t{64} << 10, size_t{1} << 20};

// Returns the length of vectors, for samples without it. All threads have the same value, except
// threads that request another one. 0 on a CPU without such vectors.
uint64_t OwnVectorGranule() {
  static const uint64_t own = symbolize::kNativeArchitecture->own_vector_granule == nullptr
                                  ? 0
                                  : symbolize::kNativeArchitecture->own_vector_granule();
  return own;
}

// Replaces `*entries` by the user part without its marker: the interrupted instruction, and return
// addresses.
void CopyUserPart(const perf_event::U64Array& callchain, std::vector<uint64_t>* entries) {
  entries->clear();
  const size_t before = perf_event::WithoutUserPart(callchain).size() + 1;
  for (size_t i = before; i < callchain.size(); ++i) entries->push_back(callchain[i]);
}

// Returns the known registers of a waiting thread.
symbolize::RegisterSet RegistersOf(const WaitingThread& thread, LiveSpace& space) {
  symbolize::MappedCode code;
  const bool is_known = space.FindCode(RuntimeAddress{thread.pc}, &code) && code.cfi != nullptr;
  const symbolize::ArchitectureTraits* const narrow = symbolize::kNativeArchitecture->narrow;
  const bool is_narrow = narrow != nullptr && (thread.pc | thread.sp) >> 32 == 0;
  const symbolize::Architecture architecture =
      is_known ? code.cfi->architecture()
               : (is_narrow ? symbolize::Architecture(*narrow) : symbolize::kNativeArchitecture);
  symbolize::RegisterSet registers(architecture);
  const auto numbers = symbolize::NumbersOf(architecture);
  registers.Set(numbers.pc, thread.pc);
  registers.Set(numbers.sp, thread.sp);
  // vfork(2) in glibc keeps its return address in the register of the first argument, so registers
  // of arguments are needed. Other system calls may have their arguments in other registers.
  const std::span<const uint8_t> arguments = architecture->system_call_arguments;
  const std::span<const uint8_t> call = architecture->system_call;
  std::array<std::byte, symbolize::kLongestCall> room{};
  const std::span<std::byte> before = std::span(room).first(call.size());
  if (arguments.empty() || thread.system_call < 0 ||
      !space.ReadCode(RuntimeAddress{thread.pc - before.size()}, before) ||
      !std::ranges::equal(before, std::as_bytes(call))) {
    return registers;
  }
  for (size_t i = 0; i < std::min(arguments.size(), thread.arguments.size()); ++i) {
    registers.Set(arguments[i], thread.arguments[i]);
  }
  return registers;
}

}  // namespace

UnwindStage::UnwindStage(std::vector<SampleLayouts> events, const procfs::Roots& roots,
                         std::unique_ptr<reader::Readers> readers)
    : readers_(readers != nullptr ? std::move(readers) : std::make_unique<reader::Readers>()),
      events_(std::move(events)),
      weights_(events_.size()),
      merge_(events_.front().opened),
      spaces_(events_.front().opened, events_.front().written, roots.proc, *readers_),
      shared_memory_(
          events_.front().opened,
          [proc = roots.proc](uint32_t a, uint32_t b) { return HaveSameMemory(proc, a, b); }),
      roots_(roots) {}

void UnwindStage::MakeOffCpu(OffCpuStageOptions options) {
  off_cpu_.emplace(std::move(options), &output_);
}

void UnwindStage::AddId(uint64_t id, size_t event) {
  event_of_id_[id] = event;
  if (event == 0) id_of_first_event_ = id;
}

const SampleLayouts& UnwindStage::LayoutsOf(RawRecord sample) const {
  if (events_.size() == 1) return events_.front();
  const auto found = event_of_id_.find(perf_event::IdOf(sample, events_.front().opened));
  return events_[found == event_of_id_.end() ? 0 : found->second];
}

absl::Status UnwindStage::Observe(std::span<const std::byte> records) {
  ringbuf::RingBytes bytes;
  bytes.spans[0] = records;
  ringbuf::BounceBuffer bounce;
  ringbuf::RecordCursor cursor(bytes, bounce);
  while (const auto record = cursor.Next()) {
    spaces_.Take(*record);
    return_probes_.Take(*record, events_.front().opened);
    shared_memory_.Observe(*record);
  }
  return cursor.status();
}

absl::Status UnwindStage::Take(std::span<ringbuf::RingPass> rings, bool last) {
  output_.clear();
  uint64_t until = UINT64_MAX;
  if (!last && !rings.empty()) {
    until = rings.front().began - std::min(rings.front().began, kPublishingMargin);
  }
  spaces_.Refresh();
  absl::Status status =
      merge_.Run(rings, until, [this](RawRecord record, int cpu) { TakeRecord(record, cpu); });
  spaces_.dumps().Flush();
  return status;
}

ChainQuality UnwindStage::quality() const {
  return tally_.Quality([this](uint32_t image) { return spaces_.ImagePath(image); });
}

std::vector<ChainWeights> UnwindStage::weights() const {
  std::vector<ChainWeights> weights = weights_;
  for (size_t i = 0; i < weights.size(); ++i) weights[i].event = events_[i].name;
  if (off_cpu_) {
    for (const ChainWeights& waits : off_cpu_->weights()) weights.push_back(waits);
  }
  std::erase_if(weights, [](const ChainWeights& event) { return event.whole + event.cut == 0; });
  return weights;
}

void UnwindStage::TakeRecord(RawRecord record, int cpu) {
  cpu_ = cpu;
  if (record.type() == perf_event::kRecordSample) {
    const SampleLayouts& layouts = LayoutsOf(record);
    if (layouts.is_output) return KeepForSample(record, layouts, cpu);
    if (layouts.is_entry) return return_probes_.TakeEntry(record, layouts.opened);
    if (layouts.is_return) return_probes_.TakeReturn(record, layouts.opened);
    if (layouts.opened.user_stack_bytes != 0) {
      TakeSample(record, layouts);
      return ForgetKept(cpu);
    }
    if (layouts.is_switch) return TakeSwitchSample(record, layouts);
  } else {
    spaces_.Take(record);
    return_probes_.Take(record, events_.front().opened);
    if (record.type() == perf_event::kRecordExit) EndThread(record);
    if (off_cpu_ && !off_cpu_->Take(record)) return ForgetKept(cpu);
  }
  ForgetKept(cpu);
  if (record.type() == perf_event::kRecordLost && LayoutsOf(record).is_output) {
    return AppendLost(record);
  }
  output_.insert(output_.end(), record.bytes().begin(), record.bytes().end());
  if (record.type() != perf_event::kRecordSample) TakeForSharers(record);
}

void UnwindStage::EndThread(RawRecord record) {
  perf_event::Task task;
  if (Decode(record, events_.front().opened, &task)) deep_threads_.Ended(task.tid);
}

// The kernel counts the lost records of a ring together, and names the event that wrote next
// (kernel/events/ring_buffer.c, Linux 6.18). The file does not have the event of the programs in the
// kernel, so the first event stands in for it.
void UnwindStage::AppendLost(RawRecord record) {
  const perf_event::RecordLayout& layout = events_.front().written;
  perf_event::Lost lost;
  if (!Decode(record, layout, &lost)) return;
  lost.id = lost.sample_id.id = id_of_first_event_;
  Encode(perf_event::kRecordLost, record.misc(), layout, lost, &output_);
}

// Keeps the record for the sample that follows in the same ring. Copies of code objects serve all
// samples.
void UnwindStage::KeepForSample(RawRecord record, const SampleLayouts& layouts, int cpu) {
  perf_event::Sample sample;
  if (!Decode(record, layouts.opened, &sample)) return ForgetKept(cpu);
  if (python::IsCopy(sample.raw)) return spaces_.python().TakeCopy(sample.pid, sample.raw);
  KeptForSample& kept = kept_[cpu];
  if (DeliveredStack::IsRecord(sample.raw)) return kept.stack.Take(sample.tid, sample.raw);
  kept.tid = sample.tid;
  kept.python.assign(sample.raw.begin(), sample.raw.end());
}

// Kept records belong to the next record of the ring only.
void UnwindStage::ForgetKept(int cpu) {
  const auto kept = kept_.find(cpu);
  if (kept == kept_.end()) return;
  kept->second.python.clear();
  kept->second.stack.Clear();
}

// Applies mappings to all processes that share the memory.
void UnwindStage::TakeForSharers(RawRecord record) {
  of_sharers_.clear();
  shared_memory_.Take(record, &of_sharers_);
  ForEachRecord(of_sharers_, [this](RawRecord added) { spaces_.Take(added); });
  output_.insert(output_.end(), of_sharers_.begin(), of_sharers_.end());
}

void UnwindStage::TakeSample(RawRecord record, const SampleLayouts& layouts) {
  perf_event::Sample sample;
  if (!Decode(record, layouts.opened, &sample)) return CountLost(record);
  chain_.clear();
  leaf_.reset();
  overflowed_ = false;
  stack_bytes_ = layouts.opened.user_stack_bytes;
  is_switch_ = layouts.is_switch;
  const perf_event::U64Array outside = perf_event::WithoutUserPart(sample.callchain);
  for (size_t i = 0; i < outside.size(); ++i) chain_.push_back(outside[i]);
  kernel_entries_ = chain_.size();
  if (sample.user_regs.abi != perf_event::kRegsAbiNone) {
    auto registers =
        symbolize::RegisterSet::FromPerf(symbolize::kNativeArchitecture, sample.user_regs.abi,
                                         sample.user_regs.mask, sample.user_regs.values);
    chain_.push_back(perf_event::kContextUser);
    if (registers) {
      if (registers->vector_granule() == 0) registers->SetVectorGranule(OwnVectorGranule());
      const uint16_t cpumode = record.misc() & perf_event::kMiscCpumodeMask;
      UnwindSample(sample, *registers, cpumode == perf_event::kMiscUser);
    } else {
      // The sample is of a 32-bit program that cannot be unwound.
      if (outside.empty()) chain_.push_back(sample.ip);
      tally_.CountCut(ChainEnd::kNoImage, 0);
      if (outside.empty()) chain_.push_back(symbolize::CutMarkOf(ChainEnd::kNoImage));
    }
  }
  spaces_.dumps().TakeRecords(&output_);
  if (layouts.is_switch) {
    if (off_cpu_) off_cpu_->TakeSample(sample, chain_);
    return;
  }
  if (chain_.size() > kernel_entries_ + 1) {
    AddWeight(chain_, sample.period, &weights_[static_cast<size_t>(&layouts - events_.data())]);
  }
  perf_event::Sample unwound = sample;
  unwound.ip = leaf_.value_or(sample.ip);
  unwound.callchain = perf_event::U64Array(std::as_bytes(std::span(chain_)));
  unwound.user_regs = KeptRegisters(sample.user_regs, layouts.written.user_regs_mask);
  unwound.user_stack = {};
  unwound.user_stack_size = 0;
  Encode(perf_event::kRecordSample, record.misc(), layouts.written, unwound, &output_);
}

// Returns the registers of `mask` from `all`, which includes them.
perf_event::Registers UnwindStage::KeptRegisters(const perf_event::Registers& all, uint64_t mask) {
  if (mask == 0 || all.abi == perf_event::kRegsAbiNone) return {};
  const perf_event::U64Array values(all.values);
  registers_.clear();
  size_t index = 0;
  for (uint64_t rest = all.mask; rest != 0; rest &= rest - 1, ++index) {
    if ((rest & -rest & mask) != 0) registers_.push_back(values[index]);
  }
  return {all.abi, mask, std::as_bytes(std::span(registers_))};
}

// Takes a sample whose chain the kernel made.
void UnwindStage::TakeSwitchSample(RawRecord record, const SampleLayouts& layouts) {
  perf_event::Sample sample;
  if (!Decode(record, layouts.opened, &sample)) return CountLost(record);
  chain_.clear();
  for (size_t i = 0; i < sample.callchain.size(); ++i) chain_.push_back(sample.callchain[i]);
  if (off_cpu_) off_cpu_->TakeSample(sample, chain_);
}

bool UnwindStage::ReadWaitingStacks(uint64_t passed, absl::FunctionRef<uint64_t()> clock) {
  if (!off_cpu_) return false;
  constexpr uint64_t kOlder = kPublishingMargin + kWaitsForStack;
  const uint64_t since = passed - std::min(passed, kOlder);
  spaces_.dumps().SetTime(since);
  for (const uint64_t began = clock(); clock() - began < kWaitingTime;) {
    const auto waiting = off_cpu_->threads().WithoutStack(since, kWaitingAtOnce);
    if (waiting.empty()) return false;
    for (const OffCpu::Waiting& thread : waiting) {
      if (!UnwindWaiting(thread, clock)) continue;
      off_cpu_->threads().SetStack(thread.tid, clock(), chain_, waiting_.thread.system_call);
    }
  }
  return true;
}

bool UnwindStage::UnwindWaiting(const OffCpu::Waiting& waiting,
                                absl::FunctionRef<uint64_t()> clock) {
  const auto copy = [&](uint64_t address, std::span<std::byte> bytes) {
    const int64_t read = readers_->ReadPages(waiting.pid, waiting.pid, address, bytes);
    return static_cast<size_t>(std::max<int64_t>(read, 0));
  };
  for (const size_t most : kWaitingStacks) {
    const uint64_t time = clock();
    if (!ReadWaitingStack(roots_, waiting.pid, waiting.tid, most, copy, &waiting_)) return false;
    LiveSpace& space = spaces_.Enter(waiting.pid);
    const symbolize::RegisterSet registers = RegistersOf(waiting_.thread, space);
    const symbolize::StackBytes stack{waiting_.thread.sp, waiting_.bytes};
    space.SetStackTime(time);
    unwinder_.Unwind(registers, stack, space, {.max_frames = kMostEntries}, &unwound_);
    space.SetStackTime(0);
    const bool may_have_more = waiting_.bytes.size() == most;
    if (unwound_.end != ChainEnd::kStackTooShort || !may_have_more) break;
  }
  chain_.assign(1, perf_event::kContextUser);
  overflowed_ = false;
  for (const UnwoundFrame& frame : unwound_.frames) Append(frame.instruction().value);
  if (unwound_.whole() && !overflowed_) {
    tally_.CountLateRead(unwound_.guessed != 0);
  } else {
    Cut(unwound_.end);
  }
  return true;
}

void UnwindStage::EndOffCpu(uint64_t time) {
  output_.clear();
  if (off_cpu_) off_cpu_->End(time);
  spaces_.dumps().Flush();
}

// Writes a record that reports one lost sample, in place of a sample that is too short for its
// layout. The kernel writes no such samples.
void UnwindStage::CountLost(RawRecord record) {
  const perf_event::LostSamples lost{.lost = 1,
                                     .sample_id = {.time = TimeOf(record, events_.front().opened)}};
  Encode(perf_event::kRecordLostSamples, 0, events_.front().written, lost, &output_);
}

// Appends an entry to the chain, if that leaves room for a mark at the end.
void UnwindStage::Append(uint64_t instruction) {
  if (chain_.size() + 1 < kMostEntries) {
    chain_.push_back(instruction);
  } else {
    overflowed_ = true;
  }
}

void UnwindStage::CountWhole(bool guessed) {
  if (overflowed_) return Cut(ChainEnd::kTooDeep);
  tally_.CountWhole(guessed);
}

void UnwindStage::Cut(ChainEnd end) {
  if (overflowed_) end = ChainEnd::kTooDeep;
  tally_.CountCut(end, unwound_.end_image);
  chain_.push_back(symbolize::CutMarkOf(end));
}

void UnwindStage::UnwindSample(const perf_event::Sample& sample,
                               const symbolize::RegisterSet& registers, bool in_user_code) {
  symbolize::StackBytes stack =
      return_probes_.PutBack(sample.pid, sample.tid,
                             {registers.sp(), sample.user_stack,
                              /*reaches_end=*/sample.user_stack.size() < sample.user_stack_size});
  LiveSpace& space = spaces_.Enter(sample.pid);
  const bool has_memory = !spaces_.IsExecuting(sample.pid) ||
                          spaces_.EnterDuringExec(sample.pid, in_user_code, registers.pc());
  // Without the memory of its program, the stack pointer leads into that of the next program.
  if (!has_memory) stack.bytes = {};
  const auto most = static_cast<uint32_t>(kMostEntries - std::min(chain_.size(), kMostEntries - 1));
  spaces_.dumps().SetTime(sample.time);
  const auto kept = kept_.find(cpu_);
  if (has_memory && kept != kept_.end()) {
    stack.rest = kept->second.stack.Of(sample.tid, registers.sp());
  }
  unwinder_.Unwind(registers, stack, space, {.max_frames = most}, &unwound_);
  if (has_memory && !is_switch_) FollowDeepStack(sample, stack.rest);
  AppendFrames(sample, registers);
  if (unwound_.end == ChainEnd::kStackSwitch && unwound_.frames.back().is_return_address) {
    return FindPartBehindSwitch(sample, stack, registers.fp());
  }
  if (!unwound_.whole()) return CutUnfinished(sample, stack);
  CountWhole(unwound_.guessed != 0);
}

// Lets the kernel read the rest of the thread's stack from now on if the copied bytes are too few.
void UnwindStage::FollowDeepStack(const perf_event::Sample& sample,
                                  const symbolize::StackWords* words) {
  const bool is_full = sample.user_stack.size() >= sample.user_stack_size;
  const auto word = symbolize::WordSize(unwound_.registers.architecture());
  deep_threads_.Take(
      {.tid = sample.tid,
       .time = sample.time,
       .chain = unwound_,
       .delivered = words == nullptr ? nullptr : &kept_.at(cpu_).stack,
       .words = words,
       .may_have_rest = !sample.user_stack.empty() && word == symbolize::StackWords::kWord,
       .copied = is_full ? sample.user_stack.size() : 0,
       .space = *spaces_.Enter(sample.pid).addresses()});
}

// Appends the frames of unwound_, with Python's functions in place of its evaluation loop.
void UnwindStage::AppendFrames(const perf_event::Sample& sample,
                               const symbolize::RegisterSet& registers) {
  std::span<const std::byte> record;
  if (const auto kept = kept_.find(cpu_); kept != kept_.end()) {
    if (kept->second.tid == sample.tid) record = kept->second.python;
  }
  const auto python = spaces_.python().Join(sample.pid, sample.time, record, unwound_, registers);
  // An interpreter's frame is listed with the address of its bytecode.
  if (sample.ip == registers.pc()) leaf_ = unwound_.frames.front().address.value;
  if (!python) {
    for (const UnwoundFrame& frame : unwound_.frames) Append(frame.instruction().value);
    return;
  }
  if (python->is_leaf_python && leaf_) leaf_ = python->chain.front();
  for (const uint64_t address : python->chain) Append(address);
}

// Continues the chain behind a switch of stacks. The stack with the outer frames was not copied.
void UnwindStage::FindPartBehindSwitch(const perf_event::Sample& sample,
                                       symbolize::StackBytes stack, uint64_t frame_pointer) {
  LiveSpace& space = spaces_.Enter(sample.pid);
  if (!symbolize::IsBehindSwitchOfGo(space, unwound_.frames.back().address)) {
    return CutUnfinished(sample, stack);
  }
  CopyUserPart(sample.callchain, &kernel_part_);
  if (symbolize::FollowKernelBehindSwitch(unwound_, kernel_part_, frame_pointer, space, &behind_)) {
    for (const uint64_t instruction : behind_) Append(instruction);
    return CountWhole(/*guessed=*/true);
  }
  if (!GoOnWithoutC(sample, stack)) CutUnfinished(sample, stack);
}

// If C code has called Go, continues the chain with the goroutine that had called the C code.
bool UnwindStage::GoOnWithoutC(const perf_event::Sample& sample, symbolize::StackBytes stack) {
  LiveSpace& space = spaces_.Enter(sample.pid);
  unwinder_.Unwind(unwound_.registers, stack, space,
                   {.max_frames = kMostEntries, .leaves_out_c = true}, &piece_,
                   /*pc_is_return_address=*/true);
  if (!piece_.whole()) return false;
  for (size_t i = 1; i < piece_.frames.size(); ++i) Append(piece_.frames[i].instruction().value);
  CountWhole(/*guessed=*/true);
  return true;
}

void UnwindStage::CutUnfinished(const perf_event::Sample& sample, symbolize::StackBytes stack) {
  // A thread in a system call has just used its stack. If the kernel cannot copy any of the stack,
  // the thread has dropped its memory, because it executes another program or exits.
  if (!stack.bytes.empty() || kernel_entries_ == 0) {
    const bool copied_short = sample.user_stack.size() < stack_bytes_;
    return Cut(symbolize::EndOf(unwound_, copied_short));
  }
  tally_.CountWithoutStack();
  // The program's mappings are gone and the next program has mapped nothing at this address.
  if (unwound_.end == ChainEnd::kNoImage) {
    chain_.resize(kernel_entries_);
  } else {
    chain_.push_back(symbolize::CutMarkOf(ChainEnd::kNoStack));
  }
}

}  // namespace profiler::record
