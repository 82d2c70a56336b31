// Steps by a simple rule (UnwindRule): the step of nearly all frames, so it is inline.
//
// Private to this package.

#pragma once

#include <cstdint>

#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/chain_frame.h"
#include "symbolize/unwind/stack_reader.h"

namespace profiler::symbolize {

// Returns true for the rule of __morestack. Programs compiled with -fsplit-stack call it at the
// start of a function, to continue the function on a new stack segment. The frame of __morestack is
// one word larger than other frames with a frame pointer. Its call frame information leads to the
// caller of the function, and so skips the start of the function. Source: GCC's
// libgcc/config/i386/morestack.S.
constexpr bool StartsSegment(const UnwindRule& rule) {
  return rule.kind == UnwindRule::kFromFramePointer && rule.cfa_offset == 24 &&
         rule.frame_slot == -3 && rule.return_slot == -1;
}

// Computes the CFA of a frame that was found only by its frame pointer, with a link register. The frame pointer
// points to the saved frame pointer and return address, which may be anywhere in the frame. Returns
// false if the rule has no such pair.
inline bool FindRecord(const UnwindRule& rule, const ChainFrame& frame, uint64_t* cfa) {
  if (rule.frame_slot == 0 || rule.return_slot != rule.frame_slot + 1) return false;
  *cfa = frame.SlotAddress(frame.fp(), -rule.frame_slot);
  return true;
}

// A step to a caller, and the stack addresses of the words that it read.
struct RuleStep {
  CallerStep caller;
  uint64_t return_slot = 0;  // 0: the return address was in the link register
  uint64_t frame_slot = 0;   // 0: the caller has the frame's fp
};

// Steps from `frame` by `rule`, whose kind is one with a CFA. The result is kCaller, kUnreadable or
// kEnd. Does not check the caller: `caller.pc` may be any word.
[[gnu::always_inline]] inline RuleStep StepByRule(const UnwindRule& rule, const ChainFrame& frame,
                                                  StackReader& stack) {
  const uint64_t sp = frame.sp();
  const uint64_t fp = frame.fp();
  const auto unreadable = [&] {
    return RuleStep{StartsSegment(rule) ? CallerStep::End(ChainEnd::kStackSwitch)
                                        : CallerStep::Unreadable()};
  };
  const auto end = [](ChainEnd reason) { return RuleStep{CallerStep::End(reason)}; };
  uint64_t cfa = 0;
  int32_t return_slot = rule.return_slot;
  uint64_t saved_fp = 0;  // address of the slot with the caller's frame pointer
  switch (rule.kind) {
    case UnwindRule::kFromStackPointer:
      cfa = Displaced(sp, rule.cfa_offset);
      if (!frame.knows_stack && !FindRecord(rule, frame, &cfa)) return end(ChainEnd::kBadRegister);
      saved_fp = frame.SlotAddress(cfa, rule.frame_slot);
      break;
    case UnwindRule::kFromFramePointer:
      cfa = Displaced(fp, rule.cfa_offset);
      saved_fp = frame.SlotAddress(cfa, rule.frame_slot);
      break;
    case UnwindRule::kLinkageTable: {
      const bool has_pushed = (frame.pc() & 15) >= static_cast<uint64_t>(int64_t{rule.return_slot});
      cfa = Displaced(sp, rule.cfa_offset) + (has_pushed ? frame.word : 0);
      return_slot = -1;
      break;
    }
    default:  // kRealigned
      if (!frame.knows_frame) return end(ChainEnd::kBadRegister);
      if (!stack.ReadStackWord(Displaced(fp, rule.cfa_offset), &cfa)) {
        return {CallerStep::Unreadable()};
      }
      saved_fp = frame.SlotAddress(fp, rule.frame_slot);
      break;
  }
  // In an interrupted epilogue, slots below the stack pointer have been popped (StepByRules).
  const bool has_saved_fp = (rule.frame_slot != 0 || rule.kind == UnwindRule::kRealigned) &&
                            (saved_fp >= sp || frame.is_return_address);
  uint64_t caller_fp = fp;
  if (has_saved_fp && !stack.ReadStackWord(saved_fp, &caller_fp)) return unreadable();
  uint64_t return_address = 0;
  if (return_slot != 0) {
    if (!stack.ReadStackWord(frame.SlotAddress(cfa, return_slot), &return_address)) {
      return unreadable();
    }
  } else {
    if (!frame.knows_link) return end(ChainEnd::kBadRegister);
    return_address = frame.registers.Get(frame.numbers.return_address);
  }
  if (!frame.IsAligned(cfa)) return end(ChainEnd::kBadRegister);
  // With a link register, linkage tables push words and then jump to a function of glibc. The CFA in that
  // function's information excludes these words; the topmost one is the return address.
  const bool is_pushed_before = return_slot > 0 && HasLinkRegister(frame.architecture());
  const uint64_t caller_sp = is_pushed_before ? frame.SlotAddress(cfa, return_slot + 1) : cfa;
  // A leaf with its return address in the link register may have no frame at all.
  if (cfa < sp || (caller_sp == sp && return_slot != 0)) return end(ChainEnd::kNoProgress);
  stack.Prefetch(caller_sp);
  return {.caller = {.kind = CallerStep::Kind::kCaller,
                     .is_return_address = rule.signal_frame == 0,
                     .finds_frame = has_saved_fp,
                     .pc = return_address,
                     .sp = caller_sp,
                     .fp = caller_fp},
          .return_slot = return_slot == 0 ? 0 : frame.SlotAddress(cfa, return_slot),
          .frame_slot = has_saved_fp ? saved_fp : 0};
}

}  // namespace profiler::symbolize
