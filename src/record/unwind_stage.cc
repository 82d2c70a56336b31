#include "src/record/unwind_stage.h"

#include <sys/prctl.h>

#include <algorithm>
#include <optional>

#include "src/perf_event/abi.h"
#include "src/perf_event/records.h"
#include "symbolize/unwind/switching_call.h"

namespace profiler::record {
namespace {

using perf_event::RawRecord;
using symbolize::ChainEnd;
using symbolize::UnwoundFrame;

// Entries of a call chain, markers included: what fits into a record beside everything else.
constexpr size_t kMostEntries = 8000;
// Late reads look for a frame of an earlier chain after so many of their own.
constexpr uint32_t kFramesAtOnce = 64;
// How long a thread waits before its stack is read from its process, in ns. Shorter waits have a
// stack by their sample or none.
constexpr uint64_t kWaitsForStack = 5'000'000;

// VG of AArch64, for samples that do not have it: all threads have the same but those that ask for
// another one. 0 on a CPU without SVE.
uint64_t OwnVectorGranule() {
  static const uint64_t own = [] {
    const int length = prctl(PR_SVE_GET_VL);  // in bytes, below flags
    return length < 0 ? 0 : static_cast<uint64_t>(length & PR_SVE_VL_LEN_MASK) / 8;
  }();
  return own;
}

// By the code where it stands; where nothing is known of that, by whether 32 bits reach it and its
// stack.
symbolize::Architecture ArchitectureOf(const WaitingThread& thread, LiveSpace& space) {
  symbolize::MappedCode code;
  const bool is_known = space.FindCode(RuntimeAddress{thread.pc}, &code) && code.cfi != nullptr;
  if (is_known) return code.cfi->architecture();
  const bool is_i386 = symbolize::kNativeArchitecture == symbolize::Architecture::kX86_64 &&
                       (thread.pc | thread.sp) >> 32 == 0;
  return is_i386 ? symbolize::Architecture::kI386 : symbolize::kNativeArchitecture;
}

}  // namespace

UnwindStage::UnwindStage(std::vector<SampleLayouts> events, const procfs::Roots& roots)
    : events_(std::move(events)),
      merge_(events_.front().opened),
      spaces_(events_.front().opened, events_.front().written, roots.proc,
              [this](uint32_t tid) { Forget(tid); }),
      roots_(roots) {}

void UnwindStage::MakeOffCpu(OffCpuStageOptions options) {
  off_cpu_.emplace(std::move(options), &output_);
}

void UnwindStage::AddId(uint64_t id, size_t event) { event_of_id_[id] = event; }

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
  while (const auto record = cursor.Next()) spaces_.Take(*record);
  return cursor.status();
}

absl::Status UnwindStage::Take(std::span<ringbuf::RingPass> rings, bool last) {
  output_.clear();
  uint64_t until = UINT64_MAX;
  if (!last && !rings.empty()) {
    until = rings.front().began - std::min(rings.front().began, kPublishingMargin);
  }
  spaces_.Refresh();
  absl::Status status = merge_.Run(rings, until, [this](RawRecord record) { TakeRecord(record); });
  spaces_.dumps().Flush();
  return status;
}

ChainQuality UnwindStage::quality() const {
  return tally_.Quality([this](uint32_t image) { return spaces_.ImagePath(image); });
}

void UnwindStage::TakeRecord(RawRecord record) {
  if (record.type() == perf_event::kRecordSample) {
    const SampleLayouts& layouts = LayoutsOf(record);
    if (layouts.opened.user_stack_bytes != 0) return TakeSample(record, layouts);
    if (layouts.is_switch) return TakeSwitchSample(record, layouts);
  } else {
    spaces_.Take(record);
    if (off_cpu_ && !off_cpu_->Take(record)) return;
  }
  output_.insert(output_.end(), record.bytes().begin(), record.bytes().end());
}

void UnwindStage::Forget(uint32_t tid) {
  joiner_.Forget(tid);
  calls_.Forget(tid);
  switches_.Forget(tid);
}

void UnwindStage::TakeSample(RawRecord record, const SampleLayouts& layouts) {
  perf_event::Sample sample;
  if (!Decode(record, layouts.opened, &sample)) return CountLost(record);
  chain_.clear();
  leaf_.reset();
  overflowed_ = false;
  stack_bytes_ = layouts.opened.user_stack_bytes;
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
      // A program with 32 bits on AArch64.
      if (outside.empty()) chain_.push_back(sample.ip);
      tally_.CountCut(ChainEnd::kNoImage, 0);
    }
  }
  spaces_.dumps().TakeRecords(&output_);
  if (layouts.is_switch) {
    if (off_cpu_) off_cpu_->TakeSample(sample, chain_);
    return;
  }
  perf_event::Sample unwound = sample;
  unwound.ip = leaf_.value_or(sample.ip);
  unwound.callchain = perf_event::U64Array(std::as_bytes(std::span(chain_)));
  unwound.user_regs = KeptRegisters(sample.user_regs, layouts.written.user_regs_mask);
  unwound.user_stack = {};
  unwound.user_stack_size = 0;
  Encode(perf_event::kRecordSample, record.misc(), layouts.written, unwound, &output_);
}

// Those of `mask`, which are among them.
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

// One whose chain the kernel made.
void UnwindStage::TakeSwitchSample(RawRecord record, const SampleLayouts& layouts) {
  perf_event::Sample sample;
  if (!Decode(record, layouts.opened, &sample)) return CountLost(record);
  chain_.clear();
  for (size_t i = 0; i < sample.callchain.size(); ++i) chain_.push_back(sample.callchain[i]);
  if (off_cpu_) off_cpu_->TakeSample(sample, chain_);
}

void UnwindStage::ReadWaitingStacks(uint64_t passed, absl::FunctionRef<uint64_t()> clock) {
  if (!off_cpu_) return;
  constexpr uint64_t kOlder = kPublishingMargin + kWaitsForStack;
  const uint64_t since = passed - std::min(passed, kOlder);
  for (const OffCpu::Waiting& waiting : off_cpu_->threads().WithoutStack(since)) {
    const auto thread = ReadWaitingThread(roots_, waiting.pid, waiting.tid);
    if (!thread) continue;
    spaces_.dumps().SetTime(since);
    UnwindWaiting(waiting, *thread);
    off_cpu_->threads().SetStack(waiting.tid, clock(), chain_, thread->system_call);
  }
}

void UnwindStage::UnwindWaiting(const OffCpu::Waiting& waiting, const WaitingThread& thread) {
  LiveSpace& space = spaces_.Enter(waiting.pid);
  space.BeginLateReads();
  const symbolize::Architecture architecture = ArchitectureOf(thread, space);
  const auto numbers = symbolize::NumbersOf(architecture);
  symbolize::RegisterSet registers(architecture);
  registers.Set(numbers.pc, thread.pc);
  registers.Set(numbers.sp, thread.sp);
  unwinder_.Unwind(registers, {thread.sp, {}}, space, {.max_frames = kMostEntries}, &unwound_);
  space.EndLateReads();
  chain_.assign(1, perf_event::kContextUser);
  overflowed_ = false;
  for (const UnwoundFrame& frame : unwound_.frames) Append(frame.instruction().value);
  if (unwound_.whole()) return tally_.CountLateRead(unwound_.guessed != 0);
  // Threads wait where they waited before; then all registers were known.
  if (const auto outer = calls_.Find(waiting.tid, unwound_.frames.back())) {
    for (size_t i = outer->callers.size(); i-- > 0;) Append(outer->callers[i].instruction);
    return CountMended(outer->guessed || unwound_.guessed != 0, /*late=*/false);
  }
  tally_.Count(unwound_);
}

void UnwindStage::EndOffCpu(uint64_t time) {
  output_.clear();
  if (off_cpu_) off_cpu_->End(time);
  spaces_.dumps().Flush();
}

// In the place of a sample that is too short for its layout, which the kernel writes none of, the
// file says that one was lost, as it does of those that the kernel had no room for.
void UnwindStage::CountLost(RawRecord record) {
  const perf_event::LostSamples lost{.lost = 1,
                                     .sample_id = {.time = TimeOf(record, events_.front().opened)}};
  Encode(perf_event::kRecordLostSamples, 0, events_.front().written, lost, &output_);
}

void UnwindStage::Append(uint64_t instruction) {
  if (chain_.size() < kMostEntries) {
    chain_.push_back(instruction);
  } else {
    overflowed_ = true;
  }
}

void UnwindStage::CountMended(bool guessed, bool late) {
  if (overflowed_) {
    tally_.CountCut(ChainEnd::kTooDeep, unwound_.end_image);
  } else if (late) {
    tally_.CountLateRead(guessed);
  } else {
    tally_.CountJoined(guessed);
  }
}

void UnwindStage::UnwindSample(const perf_event::Sample& sample,
                               const symbolize::RegisterSet& registers, bool in_user_code) {
  symbolize::StackBytes stack{registers.sp(), sample.user_stack};
  LiveSpace& space = spaces_.Enter(sample.pid);
  has_memory_ =
      !spaces_.IsExecuting(sample.pid) || EnterDuringExec(sample, in_user_code, registers.pc());
  if (!has_memory_) stack.bytes = {};  // what lies there by now is the next program's
  const auto most = static_cast<uint32_t>(kMostEntries - std::min(chain_.size(), kMostEntries - 1));
  spaces_.dumps().SetTime(sample.time);
  unwinder_.Unwind(registers, stack, space, {.max_frames = most}, &unwound_);
  // An interpreter is listed at the bytecode that it is at.
  if (sample.ip == registers.pc()) leaf_ = unwound_.frames.front().address.value;
  for (const UnwoundFrame& frame : unwound_.frames) Append(frame.instruction().value);
  if (unwound_.end == ChainEnd::kStackSwitch && unwound_.frames.back().is_return_address) {
    return FindPartBehindSwitch(sample, stack, registers.fp());
  }
  // Behind a signal handler that has a stack of its own is the frame that was interrupted.
  const bool lacks_stack =
      unwound_.end == ChainEnd::kStackTooShort || unwound_.end == ChainEnd::kStackSwitch;
  if (lacks_stack) return FindOuterPart(sample, stack);
  if (!unwound_.whole()) return CountUnmended(sample, stack);
  RememberChain(sample, stack.bytes.size());
  tally_.Count(unwound_);
}

// False where the sample is still of the program from before. With the first one of the next
// program what is known of the thread is of no use any more.
bool UnwindStage::EnterDuringExec(const perf_event::Sample& sample, bool in_user_code,
                                  uint64_t user_ip) {
  const bool has_memory = spaces_.EnterDuringExec(sample.pid, in_user_code, user_ip);
  if (!spaces_.IsExecuting(sample.pid)) Forget(sample.tid);
  return has_memory;
}

void UnwindStage::RememberChain(const perf_event::Sample& sample, size_t stack_bytes) {
  // Those that leave much of the copied bytes unused are of no use for longer ones.
  const uint64_t depth =
      unwound_.frames.back().stack_pointer - unwound_.frames.front().stack_pointer;
  if (depth > stack_bytes / 2) joiner_.Remember(sample.tid, 0, unwound_.frames);
  if (kernel_entries_ != 0) calls_.Remember(sample.tid, 0, unwound_.frames);
  ObserveSwitches(sample.pid, unwound_);
}

// Of a whole chain.
void UnwindStage::ObserveSwitches(uint32_t pid, const symbolize::UnwoundChain& chain) {
  if (!switches_.CallsC(pid)) return;
  LiveSpace& space = spaces_.Enter(pid);
  space.BeginLateReads();
  switches_.Observe(pid, chain.frames, space);
  space.EndLateReads();
}

void UnwindStage::FindPartBehindSwitch(const perf_event::Sample& sample,
                                       symbolize::StackBytes stack, uint64_t frame_pointer) {
  LiveSpace& space = spaces_.Enter(sample.pid);
  const bool is_of_go = symbolize::IsBehindSwitchOfGo(space, unwound_.frames.back().address);
  std::span<const uint64_t> followed;
  if (is_of_go) {
    switches_.Meet(sample.pid, unwound_, space);
    followed = switches_.FollowKernel(sample.pid, unwound_, sample.callchain, frame_pointer, space);
  }
  if (!followed.empty()) {
    switches_.Remember(sample.pid, unwound_, {followed, /*guessed=*/true}, space);
    for (const uint64_t instruction : followed) Append(instruction);
    return CountMended(/*guessed=*/true, /*late=*/false);
  }
  if (has_memory_ && ReadOuterPart(sample, stack)) {
    // Not where the rest was another chain's.
    if (!symbolize::IsInOutermostFunction(space, frames_.back().address)) return;
    behind_.clear();
    bool guessed = false;
    for (size_t i = unwound_.frames.size(); i < frames_.size(); ++i) {
      behind_.push_back(frames_[i].instruction().value);
      guessed = guessed || frames_[i].origin == symbolize::FrameOrigin::kGuess;
    }
    return switches_.Remember(sample.pid, unwound_, {behind_, guessed}, space);
  }
  space.BeginLateReads();
  auto known = switches_.Find(sample.pid, unwound_, space);
  if (!known && is_of_go && has_memory_) known = switches_.ReadStart(unwound_, space);
  space.EndLateReads();
  if (known) {
    for (const uint64_t instruction : known->callers) Append(instruction);
    return CountMended(known->guessed || unwound_.guessed != 0, /*late=*/false);
  }
  if (!is_of_go || !GoOnWithoutC(sample, stack)) CountUnmended(sample, stack);
}

// Where C has called Go, to the goroutine that had called C.
bool UnwindStage::GoOnWithoutC(const perf_event::Sample& sample, symbolize::StackBytes stack) {
  LiveSpace& space = spaces_.Enter(sample.pid);
  unwinder_.Unwind(unwound_.registers, stack, space,
                   {.max_frames = kMostEntries, .leaves_out_c = true}, &piece_,
                   /*pc_is_return_address=*/true);
  if (!piece_.whole()) return false;
  ObserveSwitches(sample.pid, piece_);
  for (size_t i = 1; i < piece_.frames.size(); ++i) Append(piece_.frames[i].instruction().value);
  CountMended(/*guessed=*/true, /*late=*/false);
  return true;
}

void UnwindStage::FindOuterPart(const perf_event::Sample& sample, symbolize::StackBytes stack) {
  ChainJoiner& known = stack.bytes.empty() ? calls_ : joiner_;
  if (const auto outer = known.Find(sample.tid, unwound_.frames.back())) {
    for (size_t i = outer->callers.size(); i-- > 0;) Append(outer->callers[i].instruction);
    CountMended(outer->guessed || unwound_.guessed != 0, /*late=*/false);
    known.Remember(sample.tid, outer->callers.size(), unwound_.frames);
    return;
  }
  if (!has_memory_ || !ReadOuterPart(sample, stack)) CountUnmended(sample, stack);
}

void UnwindStage::CountUnmended(const perf_event::Sample& sample, symbolize::StackBytes stack) {
  const bool is_in_kernel = kernel_entries_ != 0;
  const auto has_stack_now = [&] {
    return has_memory_ && spaces_.Enter(sample.pid).HasMemoryNow(stack.start);
  };
  if (!stack.bytes.empty() || !is_in_kernel || has_stack_now()) {
    return tally_.Count(unwound_,
                        /*copied_short=*/sample.user_stack.size() < stack_bytes_);
  }
  tally_.CountWithoutStack();
  // Of a program that is there no more; that the next one has mapped nothing there says so.
  if (unwound_.end == ChainEnd::kNoImage) chain_.resize(kernel_entries_);
}

// Goes on in the process as it is now, as far as a frame that is known from an earlier chain or the
// thread's start.
bool UnwindStage::ReadOuterPart(const perf_event::Sample& sample, symbolize::StackBytes stack) {
  LiveSpace& space = spaces_.Enter(sample.pid);
  space.BeginLateReads();
  frames_.assign(unwound_.frames.begin(), unwound_.frames.end());
  bool guessed = unwound_.guessed != 0;
  std::optional<ChainJoiner::Outer> outer;
  bool whole = false;
  // Stacks of goroutines are not the thread's, so their frames are held against each other instead.
  const bool is_behind_switch = unwound_.end == ChainEnd::kStackSwitch;
  const bool is_of_go =
      is_behind_switch && symbolize::IsBehindSwitchOfGo(space, unwound_.frames.back().address);
  bool goes_on = is_of_go || StillRuns(frames_.back(), space);
  symbolize::RegisterSet registers = unwound_.registers;
  while (goes_on && frames_.size() < kMostEntries) {
    unwinder_.Unwind(registers, stack, space, {.max_frames = kFramesAtOnce}, &piece_,
                     frames_.back().is_return_address);
    guessed = guessed || piece_.guessed != 0;
    frames_.back().address = piece_.frames.front().address;
    frames_.back().is_return_address = piece_.frames.front().is_return_address;
    for (size_t i = 1; i < piece_.frames.size() && !outer; ++i) {
      frames_.push_back(piece_.frames[i]);
      if (!is_behind_switch) outer = joiner_.Find(sample.tid, frames_.back());
    }
    whole = piece_.whole() || outer;
    goes_on = !whole && piece_.end == ChainEnd::kTooDeep && piece_.frames.size() > 1;
    registers = piece_.registers;
  }
  if (whole && is_of_go) {
    const auto callers = std::span(frames_).subspan(unwound_.frames.size());
    whole = symbolize::CallOneAnother(space, callers) &&
            switches_.MayHaveCalled(sample.pid, callers, unwound_, space);
  }
  space.EndLateReads();
  if (!whole) return false;
  // What the last frame is listed as may be known since.
  if (!overflowed_) chain_.pop_back();
  for (size_t i = unwound_.frames.size() - 1; i < frames_.size(); ++i) {
    Append(frames_[i].instruction().value);
  }
  const size_t callers = outer ? outer->callers.size() : 0;
  for (size_t i = callers; i-- > 0;) Append(outer->callers[i].instruction);
  CountMended(guessed || (outer && outer->guessed), /*late=*/true);
  joiner_.Remember(sample.tid, callers, frames_);
  return true;
}

// Whether the return address that brought us to this frame is still where it was. If the function
// has returned meanwhile, what stands outside of it is the stack of something else.
bool UnwindStage::StillRuns(const UnwoundFrame& frame, LiveSpace& space) const {
  if (symbolize::HasLinkRegister(symbolize::kNativeArchitecture)) return true;
  if (!frame.is_return_address) return true;
  const uint64_t size = symbolize::WordSize(unwound_.registers.architecture());
  uint64_t word = 0;
  return space.ReadMemory(frame.stack_pointer - size,
                          std::as_writable_bytes(std::span(&word, 1)).first(size)) &&
         word == frame.address.value;
}

}  // namespace profiler::record
