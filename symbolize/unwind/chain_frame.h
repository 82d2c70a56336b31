// The frame from which a step starts, and the step to its caller: the input and the output of every
// step of UnwindWalk.
//
//   ChainFrame ──▶ a step ──▶ CallerStep
//   registers,                the caller's pc, sp, fp, and how certain they are;
//   code at the pc            or the reason why the chain ends here; or nothing: try the next step
//
// Private to this package and to the packages that step for it (stack_switches.h).

#pragma once

#include <cstdint>

#include "symbolize/unwind/registers.h"
#include "symbolize/unwind/unwinder.h"

namespace profiler::symbolize {

struct ChainFrame {
  RegisterSet registers;  // the pc has no tags
  RegisterNumbers numbers{};
  uint64_t word = sizeof(uint64_t);  // size of a word on the stack, in bytes
  bool is_complete = true;           // false: only pc, sp and fp in `registers` belong to the frame
  bool knows_link = true;            // true if the link register belongs to the frame
  bool knows_stack = true;           // false: the frame may begin further out than sp
  bool knows_frame = true;           // false: fp is unknown, because no frame so far has saved it
  bool is_return_address = false;    // true if pc comes after a call
  bool is_leaf = false;              // true if the frame is the chain's first one
  bool in_code = false;              // true if pc is in executable memory
  MappedCode code;                   // valid if `in_code`

  // True if the frame's function was interrupted at its pc and made no call.
  bool is_interrupted() const { return is_leaf && !is_return_address; }
  // True if the pc is in an image whose call frame information can be used.
  bool has_table() const { return in_code && code.cfi != nullptr; }
  Architecture architecture() const { return registers.architecture(); }
  uint64_t pc() const { return registers.pc(); }
  uint64_t sp() const { return registers.sp(); }
  uint64_t fp() const { return registers.fp(); }
  // Returns the address of the slot that is `slot` words above `base`.
  uint64_t SlotAddress(uint64_t base, int64_t slot) const {
    return base + static_cast<uint64_t>(slot) * word;
  }
  bool IsAligned(uint64_t address) const { return (address & (word - 1)) == 0; }
  // Returns the bits of the registers that every step finds (RegisterSet::KeepOnly).
  uint64_t FollowedRegisters() const {
    return uint64_t{1} << numbers.pc | uint64_t{1} << numbers.sp | uint64_t{1} << numbers.fp;
  }
};

// Returns `base` + `offset`, modulo 2^64.
constexpr uint64_t Displaced(uint64_t base, int32_t offset) {
  return base + static_cast<uint64_t>(int64_t{offset});
}

struct CallerStep {
  enum class Kind : uint8_t {
    kNone,        // the step does not apply to the frame; the frame is unchanged
    kCaller,      // pc, sp and fp are the caller's
    kUnreadable,  // a word of the stack could not be read; the chain ends
    kEnd,         // the chain ends for the reason `end`
  };

  Kind kind = Kind::kNone;
  ChainEnd end = ChainEnd::kNoCfi;
  FrameOrigin origin = FrameOrigin::kCfi;
  bool is_return_address = true;  // true if `pc` comes after a call
  bool knows_stack = true;        // false: the caller's frame may begin further out than `sp`
  bool finds_frame = false;       // true if `fp` was read from the stack, not taken over
  uint64_t pc = 0, sp = 0, fp = 0;

  static CallerStep End(ChainEnd end) { return {.kind = Kind::kEnd, .end = end}; }
  static CallerStep Unreadable() { return {.kind = Kind::kUnreadable}; }
  // A step to a caller by words that were not proven.
  static CallerStep Guess(uint64_t pc, uint64_t sp, uint64_t fp) {
    return {.kind = Kind::kCaller, .origin = FrameOrigin::kGuess, .pc = pc, .sp = sp, .fp = fp};
  }
};

}  // namespace profiler::symbolize
