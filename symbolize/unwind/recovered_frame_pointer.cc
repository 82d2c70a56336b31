#include "symbolize/unwind/recovered_frame_pointer.h"

#include <cstddef>
#include <vector>

#include "symbolize/unwind/call_evidence.h"
#include "symbolize/unwind/stack_depth.h"

namespace profiler::symbolize {

std::optional<uint64_t> RecoverFramePointer(const UnwindRule& rule, const ChainFrame& frame,
                                            ElfAddress address, StackReader& stack,
                                            const CodeSpace& space) {
  CfiTable& cfi = *frame.code.cfi;
  const auto function = cfi.FunctionAt(address);
  if (!function || function->size > kMostCodeForDepth || !frame.knows_stack) return std::nullopt;
  std::vector<std::byte> code(function->size);
  if (!space.Read(RuntimeAddress{function->start.value + frame.code.bias}, code)) {
    return std::nullopt;
  }
  const ElfAddress at{frame.pc() - frame.code.bias};
  const auto depth = StackDepthAt(cfi, *function, code, at, frame.is_return_address);
  if (!depth) return std::nullopt;
  const uint64_t cfa = frame.sp() + *depth;
  uint64_t return_address = 0;
  if (!stack.ReadStackWord(frame.SlotAddress(cfa, rule.return_slot), &return_address) ||
      !IsReturnAddress(space, return_address)) {
    return std::nullopt;
  }
  return Displaced(cfa, -rule.cfa_offset);
}

}  // namespace profiler::symbolize
