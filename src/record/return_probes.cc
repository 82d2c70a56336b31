#include "src/record/return_probes.h"

#include <cstring>
#include <optional>
#include <utility>

#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/records.h"

namespace profiler::record {
namespace {

using perf_event::RawRecord;
using perf_event::RecordLayout;

constexpr uint64_t kWord = sizeof(uint64_t);
constexpr size_t kStackPointer = 7;  // PERF_REG_X86_SP
// Limit for the number of entries (some 50 MB). When it is exceeded, all entries are forgotten. A
// program can enter a probed function at any number of stack pointers.
constexpr size_t kMostPendingEntries = 1 << 20;

// Returns the stack pointer of a thread in 64-bit code; nothing otherwise.
std::optional<uint64_t> StackPointerOf(const perf_event::Registers& registers) {
  const uint64_t bit = uint64_t{1} << kStackPointer;
  if (registers.abi != perf_event::kRegsAbi64 || (registers.mask & bit) == 0) return std::nullopt;
  const perf_event::U64Array values(registers.values);
  size_t index = 0;
  for (uint64_t rest = registers.mask & (bit - 1); rest != 0; rest &= rest - 1) ++index;
  if (index >= values.size()) return std::nullopt;
  return values[index];
}

}  // namespace

bool HasCompanions() { return symbolize::kNativeArchitecture == symbolize::Architecture::kX86_64; }

perf_event::Attr CompanionOf(const perf_event::Attr& probe, perf_event::Attr base) {
  base.type = probe.type;
  base.config1 = probe.config1;
  base.config2 = probe.config2;
  base.flags &= ~uint64_t{perf_event::kAttrInherit};  // as the probe (find_events.h)
  base.sample_period = 1;
  base.sample_type |= perf_event::kSampleRegsUser | perf_event::kSampleStackUser;
  base.sample_regs_user = uint64_t{1} << kStackPointer;
  base.sample_stack_user = kWord;
  return base;
}

void ReturnProbes::Take(RawRecord record, const RecordLayout& layout) {
  if (!is_on_) return;
  switch (record.type()) {
    case perf_event::kRecordMmap2: {
      perf_event::Mmap2 mapping;
      if (!Decode(record, layout, &mapping)) return;
      if (mapping.filename == "[uprobes]") trampolines_[mapping.pid] = mapping.addr;
      return;
    }
    case perf_event::kRecordComm: {
      perf_event::Comm comm;
      const bool by_exec = (record.misc() & perf_event::kMiscCommExec) != 0;
      if (!by_exec || !Decode(record, layout, &comm)) return;
      trampolines_.erase(comm.pid);
      ForgetThread(comm.tid);
      return;
    }
    case perf_event::kRecordFork: {
      perf_event::Task task;
      if (!Decode(record, layout, &task)) return;
      ForgetThread(task.tid);
      if (task.pid == task.ppid) return;
      // A child has a copy of its parent's stack, with the trampolines on it.
      const auto parent = threads_.find(task.ptid);
      if (parent != threads_.end()) {
        Entries inherited = parent->second;
        entries_ += inherited.size();
        threads_[task.tid] = std::move(inherited);
      }
      const auto trampoline = trampolines_.find(task.ppid);
      if (trampoline == trampolines_.end()) {
        trampolines_.erase(task.pid);
      } else {
        const uint64_t address = trampoline->second;
        trampolines_[task.pid] = address;
      }
      return;
    }
    case perf_event::kRecordExit: {
      perf_event::Task task;
      if (Decode(record, layout, &task)) ForgetThread(task.tid);
      return;
    }
    case perf_event::kRecordLost:
    case perf_event::kRecordLostSamples:
    case perf_event::kRecordThrottle:
      return Forget();
    default:
      return;
  }
}

void ReturnProbes::ForgetThread(uint32_t tid) {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return;
  entries_ -= thread->second.size();
  threads_.erase(thread);
}

void ReturnProbes::Forget() {
  threads_.clear();
  entries_ = 0;
}

bool ReturnProbes::IsTrampoline(uint32_t pid, uint64_t address) const {
  const auto found = trampolines_.find(pid);
  return found != trampolines_.end() && found->second == address;
}

void ReturnProbes::TakeEntry(RawRecord record, const RecordLayout& layout) {
  perf_event::Sample sample;
  if (!Decode(record, layout, &sample)) return Forget();
  const std::optional<uint64_t> sp = StackPointerOf(sample.user_regs);
  if (sample.time < begin_ || !sp) return;
  Entries& entries = threads_[sample.tid];
  uint64_t word = 0;
  if (sample.user_stack.size() < kWord) {
    entries_ -= entries.erase(*sp);
    return;
  }
  std::memcpy(&word, sample.user_stack.data(), kWord);
  // A trampoline is already in place: a function with a return probe jumped here (tail call). Both
  // functions have the same caller, which is already noted.
  if (IsTrampoline(sample.pid, word)) return;
  if (!entries.insert_or_assign(*sp, word).second) return;
  if (++entries_ > kMostPendingEntries) Forget();
}

void ReturnProbes::TakeReturn(RawRecord record, const RecordLayout& layout) {
  perf_event::Sample sample;
  if (!is_on_ || !Decode(record, layout, &sample)) return;
  const std::optional<uint64_t> sp = StackPointerOf(sample.user_regs);
  const auto thread = threads_.find(sample.tid);
  if (sp && thread != threads_.end()) entries_ -= thread->second.erase(*sp - kWord);
}

symbolize::StackBytes ReturnProbes::PutBack(uint32_t pid, uint32_t tid,
                                            symbolize::StackBytes stack) {
  if (!is_on_) return stack;
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return stack;
  const size_t size = stack.bytes.size();
  bool is_copied = false;
  for (auto entry = thread->second.lower_bound(stack.start); entry != thread->second.end();
       ++entry) {
    const uint64_t offset = entry->first - stack.start;
    if (offset >= size || size - offset < kWord) break;
    uint64_t word = 0;
    std::memcpy(&word, stack.bytes.data() + offset, kWord);
    if (!IsTrampoline(pid, word)) continue;
    if (!std::exchange(is_copied, true)) {
      stack_.assign(stack.bytes.begin(), stack.bytes.end());
      stack.bytes = stack_;
    }
    std::memcpy(stack_.data() + offset, &entry->second, kWord);
  }
  return stack;
}

}  // namespace profiler::record
