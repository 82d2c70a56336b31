// Parts of UnwindWalk: steps from Go functions that continue on another stack.
//
// A goroutine has a small stack of its own. Code that needs a larger stack, which is most of the
// runtime and all of C, runs on the stack of the thread. The functions that switch stacks leave no
// address of one stack on the other. But they do not change the frame pointer. So the first
// function on the thread's stack saves the frame pointer of the function on the goroutine's stack:
//
//   the thread's stack                      the goroutine's stack
//   │ …              │                      │ …              │
//   │ frame pointer  │ ──┐                  │ return address │ ◀ 1. follows a call of the switching
//   │ return address │   │                  ├────────────────┤    function
//   ├─ the function ─┤   │                  │ the caller's   │
//   │  that switches │   └────────────────▶ │ frame pointer  │ ◀ 2. at the distance of the caller's
//   │ (of another)   │                      │ return address │    frame size
//
// If condition 1 or 2 does not hold, the chain ends. If the switching function has a frame itself,
// the saved frame pointer points to the frame of the switching function.
//
// If C calls Go, the frames of Go are put on the goroutine's stack, next to the frames that had
// called C. Only one address lies between the two groups of frames. It belongs to a function that
// nobody calls; Go recognizes the border between the groups by it:
//
//   the goroutine's stack
//   │ …              │
//   ├─ cgocallback ──┤ ── frame pointer ──▶ on the thread's stack, because C has called it
//   │ the address    │
//   │ return address │ ◀ comes after a call of asmcgocall, which has called C
//   ├─ cgocall ──────┤

#include "symbolize/unwind/switching_call.h"
#include "symbolize/unwind/unwind_walk.h"

namespace profiler::symbolize {
namespace {

// Largest frame in words that is searched for the return address.
constexpr uint64_t kMostWords = 1024;

}  // namespace

UnwindWalk::Next UnwindWalk::StepOverStackSwitch(const StackSwitch& stack_switch) {
  const uint64_t sp = registers_.sp();
  switched_stack_ = true;
  if (!is_return_address_) {
    // The function was interrupted. Most likely it had not switched the stack yet, or had already
    // switched it back.
    const uint64_t slot = sp + stack_switch.frame_size;
    uint64_t address = 0;
    if (!ReadStackWord(slot, &address)) return EndUnreadable();
    if (IsReturnAddress(address)) {
      return GoTo(address, slot + word_, registers_.fp(), FrameOrigin::kCfi, true);
    }
    const auto next = StepOverC(slot);
    return next ? *next : End(ChainEnd::kStackSwitch);
  }
  const uint64_t fp = registers_.fp();
  if (stack_switch.frame_size != 0 && limits_.leaves_out_c) {
    if (const auto next = StepOverC(sp + stack_switch.frame_size)) return *next;
  }
  if (fp == 0 || !IsAligned(fp)) return End(ChainEnd::kStackSwitch);
  if (stack_switch.frame_size != 0) {
    uint64_t address = 0, caller_fp = 0;
    if (!ReadStackWord(fp, &caller_fp) || !ReadStackWord(fp + word_, &address)) {
      return End(ChainEnd::kStackSwitch);
    }
    if (!IsReturnAddress(address)) return End(ChainEnd::kStackSwitch);
    return GoTo(address, fp + 2 * word_, caller_fp, FrameOrigin::kCfi, true);
  }
  const RuntimeAddress function{stack_switch.function.value + code_.bias};
  for (uint64_t words = 1; words <= kMostWords; ++words) {
    const uint64_t slot = fp - words * word_;
    uint64_t address = 0;
    if (!ReadStackWord(slot, &address)) break;
    if (code_.Holds({address - 1}) && FollowsCallOf(space_, function, {address}) &&
        LeadsToFrame(address, slot + word_, fp)) {
      return GoTo(address, slot + word_, fp, FrameOrigin::kCfi, true);
    }
  }
  return End(ChainEnd::kStackSwitch);
}

// Steps from a Go function that C has called. The function's frame on the goroutine's stack ends at
// `frame_end`. Empty if C has not called the function. Stack words from lower to higher addresses:
//
//   older Go versions        the frame │ address in the runtime │ return address of the caller of C
//   newer, for example 1.24  the frame │ address in the runtime │ saved frame pointer │ return …
std::optional<UnwindWalk::Next> UnwindWalk::StepOverC(uint64_t frame_end) {
  uint64_t place = 0, address = 0;
  if (!ReadStackWord(frame_end, &place) || !ReadStackWord(frame_end + word_, &address)) {
    return std::nullopt;
  }
  if (!code_.Holds({address - 1})) {
    frame_end += word_;
    if (!ReadStackWord(frame_end + word_, &address)) return std::nullopt;
  }
  if (!code_.Holds({place}) || !code_.Holds({address - 1})) return std::nullopt;
  const std::optional<RuntimeAddress> called = CalledBefore(space_, {address});
  if (!called || !code_.Holds(*called) || !code_.cfi->StackSwitchAt({called->value - code_.bias})) {
    return std::nullopt;
  }
  const uint64_t sp = frame_end + 2 * word_;
  const UnwindRule rule = code_.cfi->Find({address - 1 - code_.bias});
  const bool has_frame = rule.kind == UnwindRule::kFromStackPointer && rule.frame_slot != 0;
  const uint64_t fp =
      has_frame ? SlotAddress(Displaced(sp, rule.cfa_offset), rule.frame_slot) : registers_.fp();
  return GoTo(address, sp, fp, FrameOrigin::kGuess, true);
}

// Returns true if `fp` points to the frame of the function that contains the call in front of
// `return_address`. `sp` is the stack pointer of this function. It may make the call to enlarge its
// stack, when it has no frame yet. Then `fp` points to the frame of its caller. Therefore two
// functions are tried: this function and its caller.
bool UnwindWalk::LeadsToFrame(uint64_t return_address, uint64_t sp, uint64_t fp) {
  for (int callers = 0; callers < 2; ++callers) {
    MappedCode code;
    const RuntimeAddress call{return_address - 1};
    if (!FindCode(call, &code) || code.cfi == nullptr) return false;
    const UnwindRule rule = code.cfi->Find({call.value - code.bias});
    if (rule.kind != UnwindRule::kFromStackPointer || rule.cfa_offset <= 0) return false;
    const uint64_t cfa = Displaced(sp, rule.cfa_offset);
    if (rule.frame_slot != 0) return SlotAddress(cfa, rule.frame_slot) == fp;
    if (!ReadStackWord(SlotAddress(cfa, rule.return_slot), &return_address)) return false;
    sp = cfa;
  }
  return false;
}

}  // namespace profiler::symbolize
