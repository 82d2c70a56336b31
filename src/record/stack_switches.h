// What is behind a switch of stacks: where an unwound chain ends in a function that went on on
// another stack (ChainEnd::kStackSwitch), which was not copied.
//
// The kernel has followed frame pointers across when it took the sample, as Go keeps them:
//
//   unwound    pc … work.func1  systemstack
//   kernel     pc … ········ ,  systemstack,  ·····,  main,  goexit
//                                             └ called before it goes on in main
//
// C keeps none. Then the other stack is read afterwards, if it is still as it was, and what was
// found there is known for the next chain of the thread.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/perf_event/records.h"
#include "src/record/chain_joiner.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::record {

// One thread.
class StackSwitches {
 public:
  // What is outside of `chain`, as a call chain lists it, leaf first. `callchain` is the kernel's,
  // and `frame_pointer` that of the interrupted function. Empty where it does not lead to the start
  // of a thread, or to somebody of whom it is not known who called. Valid until the next call.
  std::span<const uint64_t> FollowKernel(const symbolize::UnwoundChain& chain,
                                         const perf_event::U64Array& callchain,
                                         uint64_t frame_pointer, symbolize::UnwindSpace& space);

  // `frames` has those of `chain`, and what was read of the other stack, out to the thread's start.
  void Remember(uint32_t tid, const symbolize::UnwoundChain& chain,
                std::span<const symbolize::UnwoundFrame> frames);
  // What was remembered of the last chain through the same place, as ChainJoiner has it.
  std::optional<ChainJoiner::Outer> Find(uint32_t tid, const symbolize::UnwoundChain& chain) const;
  void Forget(uint32_t tid) { known_.Forget(tid); }

 private:
  ChainJoiner known_;
  std::vector<uint64_t> found_;
  std::vector<symbolize::UnwoundFrame> behind_;
};

}  // namespace profiler::record
