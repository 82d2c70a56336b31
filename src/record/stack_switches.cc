#include "src/record/stack_switches.h"

#include <algorithm>

#include "symbolize/unwind/switching_call.h"

namespace profiler::record {
namespace {

using perf_event::U64Array;
using symbolize::UnwoundChain;
using symbolize::UnwoundFrame;

// Without its marker: the interrupted instruction, and return addresses.
U64Array UserPart(const U64Array& callchain) {
  const size_t before =
      std::min(perf_event::WithoutUserPart(callchain).size() + 1, callchain.size());
  return U64Array(callchain.bytes().subspan(before * sizeof(uint64_t)));
}

// Where the kernel's chain goes on with what the frame pointer of the last frame leads to; 0:
// nowhere.
size_t FindOuter(const UnwoundChain& chain, const U64Array& kernel, uint64_t frame_pointer) {
  // The first entry is the interrupted instruction, whatever the frame pointer is.
  if (chain.registers.fp() == frame_pointer) return 1;
  for (size_t i = 1; i < kernel.size(); ++i) {
    if (kernel[i] == chain.frames.back().address.value) return i + 1;
  }
  return 0;
}

// The place where the thread's stack begins is the same whoever is behind the switch. So a chain is
// known by what the function that switches has called, and by the frame pointer of the other stack,
// which no frame there lies below.
UnwoundFrame PlaceOf(const UnwoundChain& chain) {
  constexpr uint64_t kBelowFrames = 1 << 14;
  const size_t count = chain.frames.size();
  UnwoundFrame place = chain.frames[count < 2 ? 0 : count - 2];
  place.stack_pointer = chain.registers.fp() - kBelowFrames;
  return place;
}

}  // namespace

std::span<const uint64_t> StackSwitches::FollowKernel(const UnwoundChain& chain,
                                                      const U64Array& callchain,
                                                      uint64_t frame_pointer,
                                                      symbolize::UnwindSpace& space) {
  found_.clear();
  const U64Array kernel = UserPart(callchain);
  const size_t outer = FindOuter(chain, kernel, frame_pointer);
  if (outer == 0 || outer >= kernel.size()) return {};
  const auto behind =
      symbolize::FindBehindSwitch(space, chain.frames.back().address, {kernel[outer]});
  const RuntimeAddress last{kernel[kernel.size() - 1]};
  if (!behind || !symbolize::IsInOutermostFunction(space, last)) return {};
  if (behind->caller) found_.push_back(behind->caller->value - 1);
  symbolize::MappedCode code;
  for (size_t i = outer; i < kernel.size(); ++i) {
    const RuntimeAddress call{kernel[i] - 1};
    if (!code.Holds(call) && !space.FindCode(call, &code)) return {};
    found_.push_back(call.value);
  }
  return found_;
}

void StackSwitches::Remember(uint32_t tid, const UnwoundChain& chain,
                             std::span<const UnwoundFrame> frames) {
  const auto other_stack = frames.subspan(chain.frames.size());
  behind_.assign(1, PlaceOf(chain));
  behind_.insert(behind_.end(), other_stack.begin(), other_stack.end());
  known_.Remember(tid, 0, behind_);
}

std::optional<ChainJoiner::Outer> StackSwitches::Find(uint32_t tid,
                                                      const UnwoundChain& chain) const {
  return known_.Find(tid, PlaceOf(chain));
}

}  // namespace profiler::record
