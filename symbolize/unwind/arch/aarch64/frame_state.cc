#include "symbolize/unwind/arch/aarch64/frame_state.h"

#include <array>
#include <utility>

#include "symbolize/unwind/arch/aarch64/code.h"

namespace profiler::symbolize::aarch64 {
namespace {

using Flow = InstructionFlow;

constexpr int32_t kSlotSize = 8;
constexpr uint32_t kNop = 0xd503201f;
// mov x29, #0 and mov x29, xzr
constexpr uint32_t kZeroFp = 0xd280001d, kZeroFpByRegister = 0xaa1f03fd;

bool IsCompareAndBranch(uint32_t code) { return (code & 0x7e000000) == 0x34000000; }
bool IsTestAndBranch(uint32_t code) { return (code & 0x7e000000) == 0x36000000; }
bool IsConditionalBranch(uint32_t code) { return (code & 0xff000000) == 0x54000000; }
bool IsBranch(uint32_t code) { return code >> 26 == 0x05; }

// Updates `state` if the access saves or restores the caller's frame pointer or the link register.
void AccessStack(const StackAccess& access, FrameState* state) {
  for (const auto& [number, offset] : {std::pair(access.first, access.offset),
                                       std::pair(access.second, access.offset + kSlotSize)}) {
    if (number != kArmFp && number != kArmLink) continue;
    const std::optional<int32_t> slot = Deeper(state->depth, -offset);
    const bool is_fp = number == kArmFp;
    int32_t& saved = is_fp ? state->saved_fp : state->saved_return;
    const bool is_callers = is_fp ? state->fp == FrameState::kOfCaller : state->keeps_link;
    if (!access.is_load) {
      if (slot && is_callers && saved == 0) saved = *slot;
      continue;
    }
    const bool is_restored = slot && saved != 0 && *slot == saved;
    if (is_fp) {
      state->fp = is_restored ? FrameState::kOfCaller : FrameState::kOther;
    } else {
      state->keeps_link = is_restored;
    }
  }
}

void MoveStack(uint32_t code, FrameState* state) {
  const auto by_sp = AddedTo(kArmSp, code), by_fp = AddedTo(kArmFp, code);
  if (IsArmMemoryAccess(code)) {
    state->depth = Deeper(state->depth, -AccessMovesStack(code));
  } else if (by_sp) {
    state->depth = Deeper(state->depth, -*by_sp);
  } else if (by_fp && state->fp == FrameState::kOfFrame) {
    state->depth = Deeper(state->fp_depth, -*by_fp);
  } else {
    state->depth.reset();
  }
  // Slots that are now below the stack pointer were popped.
  if (!state->depth) return;
  if (*state->depth < state->saved_fp) state->saved_fp = 0;
  if (*state->depth < state->saved_return) state->saved_return = 0;
}

}  // namespace

Flow ArmFlow(uint32_t code) {
  if (IsConditionalBranch(code) || IsCompareAndBranch(code) || IsTestAndBranch(code)) {
    return Flow::kBranch;
  }
  if (IsBranch(code)) return Flow::kJump;
  if (IsArmCall(code)) return Flow::kCall;
  if ((code & 0xfefff000) == 0xd61f0000) return Flow::kFarJump;             // br, braa …
  const bool is_return = (code & 0xfefff000) == 0xd65f0000;                 // ret, retaa, retab
  const bool stops = (code & 0xffe0001f) == 0xd4200000 || code >> 16 == 0;  // brk, udf
  return is_return || stops ? Flow::kEnd : Flow::kNext;
}

std::optional<ElfAddress> ArmTarget(uint32_t code, ElfAddress address) {
  int64_t words = 0;
  if (IsConditionalBranch(code) || IsCompareAndBranch(code)) {
    words = SignedBits(code >> 5, 19);
  } else if (IsTestAndBranch(code)) {
    words = SignedBits(code >> 5, 14);
  } else if (IsBranch(code) || code >> 26 == 0x25) {
    words = SignedBits(code, 26);
  } else {
    return std::nullopt;
  }
  return ElfAddress{address.value + static_cast<uint64_t>(words * int64_t{kInstruction})};
}

bool IsArmPadding(uint32_t code) { return code == kNop; }

// Saving other registers does not count as a prologue. A function may save them later, after a test
// that decides whether it needs them.
bool IsArmPrologue(uint32_t code) {
  if (IsArmEntry(code)) return true;
  const auto access = AsStackAccess(code);
  return access && !access->is_load && (access->first == kArmLink || access->second == kArmLink);
}

FrameState AfterArm(uint32_t code, FrameState state) {
  if (IsArmCall(code)) {
    state.keeps_link = false;
    return state;
  }
  if (const auto access = AsStackAccess(code)) {
    AccessStack(*access, &state);
  } else if (const auto from_sp = AddedTo(kArmSp, code); from_sp && ArmRt(code) == kArmFp) {
    const std::optional<int32_t> depth = Deeper(state.depth, -*from_sp);
    state.fp = depth ? FrameState::kOfFrame : FrameState::kOther;
    state.fp_depth = depth.value_or(0);
  } else if (WritesRegister(kArmFp, code)) {
    const bool is_zeroed = code == kZeroFp || code == kZeroFpByRegister;
    const bool keeps_callers = state.fp != FrameState::kOfCaller || state.saved_fp != 0;
    state.fp = is_zeroed && !keeps_callers ? FrameState::kOutermost : FrameState::kOther;
  } else if (WritesRegister(kArmLink, code)) {
    state.keeps_link = false;
  }
  if (WritesStackPointer(code)) MoveStack(code, &state);
  return state;
}

}  // namespace profiler::symbolize::aarch64
