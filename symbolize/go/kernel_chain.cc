#include "symbolize/go/kernel_chain.h"

#include "symbolize/go/switching_call.h"

namespace profiler::symbolize {
namespace {

// Returns the index of an address in the kernel's chain: the return address to which the frame
// pointer of the last unwound frame leads. 0: there is none.
size_t FindOuter(const UnwoundChain& chain, std::span<const uint64_t> kernel,
                 uint64_t frame_pointer) {
  // Entry 0 is the interrupted instruction, so the frame pointer of the sample leads to entry 1.
  if (chain.registers.fp() == frame_pointer) return 1;
  for (size_t i = 1; i < kernel.size(); ++i) {
    if (kernel[i] == chain.frames.back().address.value) return i + 1;
  }
  return 0;
}

}  // namespace

bool FollowKernelBehindSwitch(const UnwoundChain& chain, std::span<const uint64_t> kernel,
                              uint64_t frame_pointer, UnwindSpace& space,
                              std::vector<uint64_t>* callers) {
  callers->clear();
  const size_t outer = FindOuter(chain, kernel, frame_pointer);
  if (outer == 0 || outer >= kernel.size()) return false;
  const RuntimeAddress last{kernel[kernel.size() - 1]};
  if (!IsInOutermostFunction(space, last)) return false;
  const auto behind = FindBehindSwitch(space, chain.frames.back().address, {kernel[outer]});
  if (!behind) return false;
  if (behind->caller) callers->push_back(behind->caller->value - 1);
  MappedCode code;
  for (size_t i = outer; i < kernel.size(); ++i) {
    const RuntimeAddress call{kernel[i] - 1};
    if (!code.Holds(call) && !space.FindCode(call, &code)) return false;
    callers->push_back(call.value);
  }
  return true;
}

}  // namespace profiler::symbolize
