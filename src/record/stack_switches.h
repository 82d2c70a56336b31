// Callers behind a switch of stacks in Go, by the frame pointers that the kernel followed at the
// sample.
//
// A goroutine that runs code of the runtime or of C does so on the stack of its thread. The sample
// copied that stack, so the unwound chain ends in the function that switched stacks. Go keeps frame
// pointers, so the kernel's chain of the same sample may lead on to the goroutine's own stack:
//
//   unwound    pc … work.func1  systemstack
//   kernel     pc … ········ ,  systemstack,  ·····,  main,  goexit
//                                             └ called before it goes on in main
//
// The kernel's chain leaves out the function that called the one that switches. The call before the
// next return address names it; if that call goes through a register, the chain stays cut. No other
// source is used: the goroutine's stack as it is after the sample may belong to other calls.

#pragma once

#include <cstdint>
#include <vector>

#include "src/perf_event/records.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::record {

// Replaces `*callers` by what is outside of `chain`, as a call chain lists it, leaf first.
// `callchain` is the kernel's of the same sample, and `frame_pointer` that of the interrupted
// function. False if the kernel's chain does not lead from the switch to the start of a goroutine,
// or if the function that called the switching one is unknown.
bool FollowKernelBehindSwitch(const symbolize::UnwoundChain& chain,
                              const perf_event::U64Array& callchain, uint64_t frame_pointer,
                              symbolize::UnwindSpace& space, std::vector<uint64_t>* callers);

}  // namespace profiler::record
