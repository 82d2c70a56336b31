#include "symbolize/unwind/rule_finder.h"

#include <array>
#include <cstring>
#include <span>

#include "symbolize/unwind/call_evidence.h"
#include "symbolize/unwind/frame_state.h"
#include "symbolize/unwind/stack_start.h"

namespace profiler::symbolize {
namespace {

// Replaces the rule of a return address, `target`, that follows no call. There are two such cases.
// In the first case, code that throws an exception "returns" to the code that catches it; the code
// before the return address is unrelated. In the second case, a program made the stack itself, for
// example for makecontext. Such a stack begins with the address of a function that never returns.
// The stack's first function returns to it.
void ReconsiderReturnAddress(const MappedCode& mapped, ElfAddress target, const CodeSpace& space,
                             UnwindRule* rule) {
  const UnwindRule at_target = mapped.cfi->Find(target);
  if (at_target.kind == UnwindRule::kNone || MayFollowCall(space, target.value + mapped.bias)) {
    return;
  }
  // Go's runtime puts return addresses that follow no call on the stack, for runtime.goexit and for
  // interrupted functions. In Go programs, nothing changes if both rules are equal.
  if (at_target == *rule && mapped.cfi->has_go_functions()) return;
  *rule = at_target;
  if (at_target.signal_frame == 0 && NeverReturns(space, mapped, target)) {
    *rule = {.kind = UnwindRule::kThreadStart};
  }
  rule->not_called = 1;
}

}  // namespace

UnwindRule RuleFinder::LookUp(const MappedCode& mapped, ElfAddress address,
                              bool is_return_address) const {
  UnwindRule rule = mapped.cfi->Find(address);
  if (is_return_address) ReconsiderReturnAddress(mapped, {address.value + 1}, space_, &rule);
  return rule;
}

UnwindRule MendInterruptedRule(const UnwindRule& told, RuntimeAddress pc, const MappedCode& mapped,
                               ElfAddress address, const CodeSpace& space) {
  constexpr uint64_t kMostBytes = 128;  // longest prologue in bytes
  const UnwindRule at_ends{.kind = UnwindRule::kFromStackPointer};
  const Architecture architecture = space.architecture();
  const size_t size = architecture->instruction_size;
  if (size == 0) return told;
  FrameInstruction instruction(architecture);
  std::array<std::byte, kMostBytes> bytes;
  if (told != at_ends) {
    const auto code = std::span(bytes).first(size);
    const bool returns =
        space.Read(pc, code) && instruction.Decode(code, {}) && instruction.Returns();
    return returns ? at_ends : told;
  }
  const auto function = mapped.cfi->FunctionAt(address);
  const uint64_t distance = function ? address.value - function->start.value : 0;
  if (distance == 0 || distance > kMostBytes || distance % size != 0 ||
      !space.Read(RuntimeAddress{pc.value - distance}, std::span(bytes).first(distance))) {
    return told;
  }
  const std::span<const std::byte> passed = std::span(bytes).first(distance);
  FrameState state = FrameState::AtStart(architecture);
  for (uint64_t at = 0; at < distance; at += size) {
    const bool is_decoded = instruction.Decode(passed.subspan(at), {});
    if (!is_decoded || instruction.flow() != FrameInstruction::Flow::kNext) return told;
    state = instruction.After(state);
  }
  const UnwindRule rule = UnwindRuleOf(state, architecture);
  return rule.kind == UnwindRule::kNone ? told : rule;
}

}  // namespace profiler::symbolize
