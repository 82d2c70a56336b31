#include "symbolize/go/switching_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace profiler::symbolize {
namespace {

// Branches of x86-64: a 1-byte opcode and a 4-byte distance from the end of the instruction.
constexpr uint8_t kCall = 0xe8, kJump = 0xe9;
constexpr uint64_t kBranchSize = 5;
// Largest offset of the jump in a function that only loads an argument and jumps to another one.
constexpr uint64_t kLongestStub = 16;
constexpr uint64_t kLongestFunction = 1 << 16;
// Number of bytes of code that are read at once.
constexpr uint64_t kPiece = 1024;

RuntimeAddress TargetOf(RuntimeAddress branch, const uint8_t* code) {
  int32_t distance = 0;
  std::memcpy(&distance, code + 1, sizeof(distance));
  return {branch.value + kBranchSize + static_cast<uint64_t>(int64_t{distance})};
}

// Returns the target of the branch at `address`; empty for other instructions.
std::optional<RuntimeAddress> BranchTarget(UnwindSpace& space, RuntimeAddress address,
                                           uint8_t opcode) {
  std::array<uint8_t, kBranchSize> code{};
  if (!space.ReadCode(address, std::as_writable_bytes(std::span(code))) || code[0] != opcode) {
    return std::nullopt;
  }
  return TargetOf(address, code.data());
}

bool LeadsTo(UnwindSpace& space, RuntimeAddress target, RuntimeAddress function) {
  if (target == function) return true;
  for (uint64_t offset = 0; offset < kLongestStub; ++offset) {
    if (BranchTarget(space, {target.value + offset}, kJump) == function) return true;
  }
  return false;
}

struct Code {
  MappedCode mapped;
  ElfAddress instruction;
};

// Returns the code that contains the call before `return_address`; empty if its image is unknown.
std::optional<Code> CodeBefore(UnwindSpace& space, RuntimeAddress return_address) {
  Code code;
  const RuntimeAddress instruction{return_address.value - 1};
  if (!space.FindCode(instruction, &code.mapped) || code.mapped.cfi == nullptr) return std::nullopt;
  code.instruction = {instruction.value - code.mapped.bias};
  return code;
}

// Returns the address after the first call of `function` in the `size` bytes of code at `start`.
std::optional<RuntimeAddress> FindCall(UnwindSpace& space, RuntimeAddress function,
                                       RuntimeAddress start, uint64_t size) {
  std::vector<uint8_t> code(kPiece);
  for (uint64_t piece = 0; piece + kBranchSize <= size; piece += kPiece - kBranchSize) {
    code.resize(std::min(kPiece, size - piece));
    if (!space.ReadCode({start.value + piece}, std::as_writable_bytes(std::span(code)))) break;
    for (size_t i = 0; i + kBranchSize <= code.size(); ++i) {
      if (code[i] != kCall) continue;
      const RuntimeAddress call{start.value + piece + i};
      if (LeadsTo(space, TargetOf(call, &code[i]), function)) {
        return RuntimeAddress{call.value + kBranchSize};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool FollowsCallOf(UnwindSpace& space, RuntimeAddress function, RuntimeAddress return_address) {
  const auto target = CalledBefore(space, return_address);
  return target && LeadsTo(space, *target, function);
}

bool IsBehindSwitchOfGo(UnwindSpace& space, RuntimeAddress return_address) {
  const std::optional<Code> code = CodeBefore(space, return_address);
  return code && code->mapped.cfi->StackSwitchAt(code->instruction);
}

std::optional<RuntimeAddress> CalledBefore(UnwindSpace& space, RuntimeAddress return_address) {
  if (return_address.value < kBranchSize) return std::nullopt;
  return BranchTarget(space, {return_address.value - kBranchSize}, kCall);
}

std::optional<BehindSwitch> FindBehindSwitch(UnwindSpace& space, RuntimeAddress switching,
                                             RuntimeAddress outer) {
  const std::optional<Code> code = CodeBefore(space, switching);
  if (!code) return std::nullopt;
  const auto stack_switch = code->mapped.cfi->StackSwitchAt(code->instruction);
  if (!stack_switch) return std::nullopt;
  const RuntimeAddress function{stack_switch->function.value + code->mapped.bias};
  if (stack_switch->frame_size != 0) {
    return FollowsCallOf(space, function, outer) ? std::optional(BehindSwitch()) : std::nullopt;
  }
  const auto called = CalledBefore(space, outer);
  if (!called || !code->mapped.Holds(*called)) return std::nullopt;
  const auto extent = code->mapped.cfi->FunctionAt({called->value - code->mapped.bias});
  if (!extent || extent->start.value + code->mapped.bias != called->value) return std::nullopt;
  const auto call = FindCall(space, function, *called, std::min(extent->size, kLongestFunction));
  return call ? std::optional(BehindSwitch{call}) : std::nullopt;
}

bool IsInOutermostFunction(UnwindSpace& space, RuntimeAddress return_address) {
  const std::optional<Code> code = CodeBefore(space, return_address);
  return code && code->mapped.cfi->Find(code->instruction).kind == UnwindRule::kThreadStart;
}

}  // namespace profiler::symbolize
