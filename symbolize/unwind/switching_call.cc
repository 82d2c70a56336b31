#include "symbolize/unwind/switching_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

namespace profiler::symbolize {
namespace {

// x86-64: an opcode and a distance of four bytes from the instruction's end.
constexpr uint8_t kCall = 0xe8, kJump = 0xe9;
constexpr uint64_t kBranchSize = 5;
// Where a function that only loads an argument and jumps to another one has its jump, at most.
constexpr uint64_t kLongestStub = 16;
constexpr uint64_t kLongestFunction = 1 << 16;
// asmcgocall, after the call:
//   mov 48(%rsp),%rdi     the goroutine
//   mov 8(%rdi),%rsi      the end of its stack, as it is now
//   sub 40(%rsp),%rsi     how far below that the stack pointer was
// In some versions the thread's variables are looked for first, or the places are others. Source:
// Go's src/runtime/asm_amd64.s, versions 1.16 to 1.27.
constexpr std::array<uint8_t, 7> kLoadStackEnd = {0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x34};
// Where the distance is not on top.
constexpr std::array<uint8_t, 7> kLoadStackEndFar = {0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74};
constexpr size_t kLongestWayBack = 32;
// mov distance(%rip),%rax: the function for cgocall, loaded so many bytes before the call at most.
constexpr std::array<uint8_t, 3> kLoadFunction = {0x48, 0x8b, 0x05};
constexpr uint64_t kLoadSize = 7, kLoadedBefore = 48;
constexpr uint8_t kShortJump = 0xeb;
constexpr uint64_t kShortJumpSize = 2;
constexpr std::string_view kCallsC = "runtime.cgocall";
// The largest frame that is looked through.
constexpr uint64_t kMostFrame = 8192;
constexpr uint64_t kWord = 8;
// That are read at once.
constexpr uint64_t kPiece = 1024;

RuntimeAddress TargetOf(RuntimeAddress branch, const uint8_t* code) {
  int32_t distance = 0;
  std::memcpy(&distance, code + 1, sizeof(distance));
  return {branch.value + kBranchSize + static_cast<uint64_t>(int64_t{distance})};
}

// Of the instruction at `address`; empty where it is another one.
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

// The code that calls before `return_address`, if its image is known.
std::optional<Code> CodeBefore(UnwindSpace& space, RuntimeAddress return_address) {
  Code code;
  const RuntimeAddress instruction{return_address.value - 1};
  if (!space.FindCode(instruction, &code.mapped) || code.mapped.cfi == nullptr) return std::nullopt;
  code.instruction = {instruction.value - code.mapped.bias};
  return code;
}

// Behind the first call of `function` in the code from `start` on.
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

std::optional<uint64_t> ReadWord(UnwindSpace& space, uint64_t address) {
  uint64_t word = 0;
  if (!space.ReadMemory(address, std::as_writable_bytes(std::span(&word, 1)))) return std::nullopt;
  return word;
}

struct RuntimeExtent {
  RuntimeAddress start;
  uint64_t size = 0;
};

std::optional<RuntimeExtent> ExtentOf(UnwindSpace& space, RuntimeAddress instruction) {
  MappedCode code;
  if (!space.FindCode(instruction, &code) || code.cfi == nullptr) return std::nullopt;
  const auto extent = code.cfi->FunctionAt({instruction.value - code.bias});
  if (!extent) return std::nullopt;
  return RuntimeExtent{{extent->start.value + code.bias}, extent->size};
}

// Where a function goes whose last instruction is a jump out of it.
std::optional<RuntimeAddress> LastJump(UnwindSpace& space, const RuntimeExtent& function) {
  const uint64_t end = function.start.value + function.size;
  std::optional<RuntimeAddress> target;
  if (function.size >= kBranchSize) target = BranchTarget(space, {end - kBranchSize}, kJump);
  std::array<uint8_t, kShortJumpSize> code{};
  if (!target && function.size >= kShortJumpSize &&
      space.ReadCode({end - kShortJumpSize}, std::as_writable_bytes(std::span(code))) &&
      code[0] == kShortJump) {
    target = {end + static_cast<uint64_t>(int64_t{static_cast<int8_t>(code[1])})};
  }
  const bool leads_out = target && target->value - function.start.value >= function.size;
  return leads_out ? target : std::nullopt;
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

std::optional<FirstFunction> FindFirstFunction(UnwindSpace& space, RuntimeAddress switching,
                                               uint64_t frame_pointer) {
  const std::optional<Code> code = CodeBefore(space, switching);
  if (!code || frame_pointer == 0 || frame_pointer % kWord != 0) return std::nullopt;
  const auto stack_switch = code->mapped.cfi->StackSwitchAt(code->instruction);
  if (!stack_switch || stack_switch->frame_size != 0) return std::nullopt;
  const auto outermost = ReadWord(space, frame_pointer + kWord);
  if (!outermost || !IsInOutermostFunction(space, {*outermost})) return std::nullopt;
  const RuntimeAddress function{stack_switch->function.value + code->mapped.bias};
  for (uint64_t slot = frame_pointer - kWord; slot >= frame_pointer - kMostFrame; slot -= kWord) {
    const auto word = ReadWord(space, slot);
    if (!word) break;
    if (!code->mapped.Holds({*word - 1})) continue;
    const ElfAddress call{*word - 1 - code->mapped.bias};
    const UnwindRule rule = code->mapped.cfi->Find(call);
    const auto frame = static_cast<uint64_t>(int64_t{rule.cfa_offset});
    if (rule.kind != UnwindRule::kFromStackPointer || rule.frame_slot == 0) continue;
    if (slot + kWord + frame != frame_pointer + 2 * kWord) continue;
    const auto extent = ExtentOf(space, {*word - 1});
    const auto caller =
        extent ? FindCall(space, function, extent->start, std::min(extent->size, kLongestFunction))
               : std::nullopt;
    return caller ? std::optional(FirstFunction{*caller, {*outermost}}) : std::nullopt;
  }
  return std::nullopt;
}

bool KeepsGoroutine(UnwindSpace& space, RuntimeAddress return_address) {
  std::array<uint8_t, kLongestWayBack> code{};
  if (!space.ReadCode(return_address, std::as_writable_bytes(std::span(code)))) return false;
  return std::ranges::any_of(std::array{kLoadStackEnd, kLoadStackEndFar}, [&](const auto& load) {
    return !std::ranges::search(code, load).empty();
  });
}

std::optional<RuntimeAddress> FindCallOfC(UnwindSpace& space, RuntimeAddress return_address) {
  const std::optional<Code> code = CodeBefore(space, return_address);
  if (!code) return std::nullopt;
  const auto stack_switch = code->mapped.cfi->StackSwitchAt(code->instruction);
  const auto caller = code->mapped.cfi->GoFunctionNamed(kCallsC);
  if (!stack_switch || !caller) return std::nullopt;
  const uint64_t bias = code->mapped.bias;
  return FindCall(space, {stack_switch->function.value + bias}, {caller->start.value + bias},
                  std::min(caller->size, kLongestFunction));
}

//   cgocall's frame pointer ─▶ saved frame pointer
//                              …
//                              return address           its stack pointer at the call, less a word
//   that of asmcgocall ──────▶ saved frame pointer
uint64_t FrameOfCallOfC(UnwindSpace& space, RuntimeAddress return_address, RuntimeAddress call) {
  const std::optional<Code> code = CodeBefore(space, return_address);
  if (!code || !code->mapped.Holds(call)) return 0;
  const auto stack_switch = code->mapped.cfi->StackSwitchAt(code->instruction);
  if (!stack_switch || stack_switch->frame_size == 0) return 0;
  const UnwindRule rule = code->mapped.cfi->Find({call.value - code->mapped.bias});
  const bool is_known = rule.kind == UnwindRule::kFromStackPointer && rule.cfa_offset > 0;
  return is_known ? static_cast<uint64_t>(rule.cfa_offset) : 0;
}

std::optional<CalledC> FindCalledC(UnwindSpace& space, RuntimeAddress return_address) {
  std::array<uint8_t, kLoadedBefore> code{};
  const uint64_t start = return_address.value - kBranchSize - code.size();
  if (!space.ReadCode({start}, std::as_writable_bytes(std::span(code)))) return std::nullopt;
  const auto load = std::ranges::find_end(code, kLoadFunction);
  const auto offset = static_cast<uint64_t>(load.begin() - code.begin());
  if (load.empty() || offset + kLoadSize > code.size()) return std::nullopt;
  int32_t distance = 0;
  std::memcpy(&distance, &code[offset + kLoadFunction.size()], sizeof(distance));
  const uint64_t variable = start + offset + kLoadSize + static_cast<uint64_t>(int64_t{distance});
  CalledC called;
  if (!space.ReadMemory(variable, std::as_writable_bytes(std::span(&called.function.value, 1)))) {
    return std::nullopt;
  }
  const auto extent = ExtentOf(space, called.function);
  if (!extent || extent->start.value != called.function.value) return std::nullopt;
  called.jumps_to = LastJump(space, *extent);
  return called;
}

std::optional<RuntimeAddress> FunctionOf(UnwindSpace& space, RuntimeAddress instruction) {
  const auto extent = ExtentOf(space, instruction);
  return extent ? std::optional(extent->start) : std::nullopt;
}

bool CallOneAnother(UnwindSpace& space, std::span<const UnwoundFrame> frames) {
  for (size_t i = 1; i < frames.size(); ++i) {
    if (!frames[i].is_return_address) continue;
    const auto target = CalledBefore(space, frames[i].address);
    if (!target) continue;
    const auto function = FunctionOf(space, frames[i - 1].instruction());
    if (function && !LeadsTo(space, *target, *function)) return false;
  }
  return true;
}

bool IsInOutermostFunction(UnwindSpace& space, RuntimeAddress return_address) {
  const std::optional<Code> code = CodeBefore(space, return_address);
  return code && code->mapped.cfi->Find(code->instruction).kind == UnwindRule::kThreadStart;
}

}  // namespace profiler::symbolize
