// Finds callers behind a switch of stacks in Go, by the frame pointers that the kernel followed at
// the sample.
//
// A goroutine executes code of the runtime or of C on the stack of its thread. The sample copied
// that stack, so the unwound chain ends in the function that switched stacks. Go keeps frame
// pointers, so the kernel's chain of the same sample may lead on to the goroutine's own stack:
//
//   unwound    pc … work.func1  systemstack
//   kernel     pc … ········ ,  systemstack,  ·····,  main,  goexit
//                                             └ named by the call before main goes on
//
// The kernel's chain leaves out the caller of the switching function. The call instruction before
// the next return address names that caller; if the call goes through a register, the chain stays
// cut. No other source is used: after the sample, the goroutine's stack may belong to other calls.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

// Replaces `*callers` by the callers outside of `chain`, as a call chain lists them, leaf first.
// `kernel` is the user part of the kernel's chain of the same sample: the interrupted instruction,
// then return addresses. `frame_pointer` is the frame pointer of the interrupted function. Returns
// false if the kernel's chain does not lead from the switch to the start of a goroutine, or if the
// caller of the switching function is unknown.
bool FollowKernelBehindSwitch(const UnwoundChain& chain, std::span<const uint64_t> kernel,
                              uint64_t frame_pointer, UnwindSpace& space,
                              std::vector<uint64_t>* callers);

}  // namespace profiler::symbolize
