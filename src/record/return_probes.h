// Puts back the return addresses that return probes hide.
//
// A return probe on a function (PATH:f%return) is a breakpoint at its entry. There the kernel
// replaces the return address by the address of a trampoline. Until the function returns, an
// unwinder finds the trampoline in place of the caller:
//
//   stack of f     before      [ caller ]
//                  f runs      [ trampoline ]   in the process's page [uprobes]
//                  f returned  the kernel continues at the caller
//
// So each return probe has a companion, which is an event at the entry. Its samples have the stack
// pointer and the word at the top of the stack. The kernel runs all events of a breakpoint before
// it replaces the address (handler_chain in kernel/events/uprobes.c, Linux 6.18), so that word is
// the caller's address. The companion's samples are in no file.
//
// An entry counts until the function returns, until another entry with the same stack pointer, or
// until records are lost. After a loss nobody knows which entry was the last one, so chains end at
// the trampoline until the next entries. Chains also end at the trampolines of other programs'
// return probes, which have no companion. If a CPU loses a record, only its next record shows the
// loss. A sample that another CPU takes in between is not protected.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "src/format/perf_event/attr.h"
#include "src/format/perf_event/codec.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::record {

// Makes the attr of the companion of the return probe `probe`. `base` has the settings that all
// events of the recording share. Only x86-64 programs are followed.
perf_event::Attr CompanionOf(const perf_event::Attr& probe, perf_event::Attr base);
bool HasCompanions();

// The hidden return addresses of all threads. Use it from one thread, with records in time order.
// Costs nothing without return probes.
class ReturnProbes {
 public:
  // Begins to follow entries. Entries before `time` do not count, because some CPU or thread was
  // not observed until then.
  void Begin(uint64_t time) {
    begin_ = time;
    is_on_ = true;
  }

  // Takes a record of any type except a sample.
  void Take(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  // TakeEntry takes a sample of a companion. TakeReturn takes a sample of a return probe itself.
  void TakeEntry(perf_event::RawRecord record, const perf_event::RecordLayout& layout);
  void TakeReturn(perf_event::RawRecord record, const perf_event::RecordLayout& layout);

  // Returns the stack of a sample with all known return addresses put back. Valid until the next
  // call. Copies the bytes only if there is an address to put back.
  symbolize::StackBytes PutBack(uint32_t pid, uint32_t tid, symbolize::StackBytes stack);

 private:
  // Hidden return addresses, each keyed by the address of its place on the stack.
  using Entries = absl::btree_map<uint64_t, uint64_t>;

  bool IsTrampoline(uint32_t pid, uint64_t address) const;
  void ForgetThread(uint32_t tid);
  void Forget();

  bool is_on_ = false;
  uint64_t begin_ = 0;
  absl::flat_hash_map<uint32_t, uint64_t> trampolines_;  // address of the trampolines, keyed by pid
  absl::flat_hash_map<uint32_t, Entries> threads_;
  size_t entries_ = 0;  // number of entries of all threads
  std::vector<std::byte> stack_;
};

}  // namespace profiler::record
