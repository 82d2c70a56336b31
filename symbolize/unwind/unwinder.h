// Unwinds the stack of a sample: turns registers and stack bytes into a call chain.
//
//   copied stack                      frames, leaf first
//   sp ▶ │ locals       │            [0] address = pc      the interrupted instruction
//        │ return addr  │ ──────────▶ [1] address          a return address: looked up at
//        ├─ CFA of [0] ─┤                                   address − 1
//        │ saved fp     │
//        │ return addr  │ ──────────▶ [2] …
//        └─ CFA of [1] ─┘
//
// Each step finds the image at the frame's pc and the image's rule for the pc (cfi_table.h). The
// rule gives the CFA, and the return address and frame pointer of the caller. A signal frame's
// caller was interrupted, so it is looked up at its address, not at its address − 1.
//
// If an image has no information about a function (hand-written assembly, musl's C library), a rule
// is derived from its instructions (derived_rules.h). If the rule leads to no caller, the frame
// pointer is followed; also in memory without an image (JIT code). Frames found in these ways are
// marked as guesses, with one exception: a caller is no guess if a derived rule leads to it and it
// calls the function from which the rule was derived. Further cases:
// - Helpers that an assembly function calls inside itself count as functions (helper_rules.h).
// - An interrupted function may not have set up its frame yet, or may have removed it; and a
//   function that made a call may have no frame pointer. Its next instructions show this
//   (bare_frame.h).
// - If nothing is known about a function of an image, its caller is searched in the link register
//   and on top of the stack.
// - Code made by a virtual machine is unwound by the machine's tables, if the space has them
//   (managed_code.h); then nothing is guessed.
// unwind_walk.h has the order of all steps.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "src/base/address.h"
#include "src/base/huge_vector.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/chain_quality.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

class KnownSteps;
class ManagedCode;
class RuleCache;
class StackSwitches;
class StackWords;

// Executable memory of one process: part of an image, or memory without a file.
struct MappedCode {
  RuntimeAddress start;
  uint64_t size = 0;
  uint64_t bias = 0;        // runtime address − ELF address, modulo 2^64
  CfiTable* cfi = nullptr;  // null: no information about frames (JIT code, unreadable file)
  uint32_t image = 0;       // number that the engine only copies to UnwoundChain::end_image

  bool Holds(RuntimeAddress a) const { return a >= start && a.value - start.value < size; }
};

// The memory of one process at one time, as the unwinder sees it.
class UnwindSpace {
 public:
  virtual ~UnwindSpace() = default;
  // Finds the code at `address`. Returns false if nothing executable is mapped there. Called once
  // for successive frames in one mapping.
  virtual bool FindCode(RuntimeAddress address, MappedCode* code) = 0;
  // Returns a number that identifies the mappings: while it is unchanged, FindCode gives the same
  // results, and no other space has this number. If the number is 0, steps of chains are not reused
  // (known_steps.h).
  virtual uint64_t Identity() const { return 0; }
  // Fills `bytes` with memory outside the copied stack: live memory, or file contents of a
  // read-only mapping. Returns false if that is impossible.
  virtual bool ReadMemory(uint64_t address, std::span<std::byte> bytes) {
    static_cast<void>(address), static_cast<void>(bytes);
    return false;
  }
  // Fills `bytes` with code, which may be older than the sample. Returns false if that is
  // impossible.
  virtual bool ReadCode(RuntimeAddress address, std::span<std::byte> bytes) {
    return ReadMemory(address.value, bytes);
  }
  // Returns the reader of this process's virtual machine; null if there is none. It is used for
  // frames in memory without an image.
  virtual ManagedCode* Managed() { return nullptr; }
};

// The reason for which a chain ends. The values are stored in recordings, as marks at the end of
// cut chains (src/format/perf_data/FORMAT.md), so they must not change.
enum class ChainEnd : uint8_t {
  // The last frame is the start of the stack: call frame information says so, it is the entry
  // point, its code never returns, or its return address of 0 is the stack's last word. The chain
  // is whole.
  kThreadStart = 0,
  kNoImage = 1,  // the interrupted instruction is in no known mapping
  // The last frame's image has no information about it, and its frame pointer does not help.
  kNoCfi = 2,
  // The next word is beyond the copied bytes and could not be read.
  kStackTooShort = 3,
  // Like kStackTooShort, and the copied stack is shorter than requested.
  kCopiedShort = 4,
  // A required register is unknown, or does not point near the stack.
  kBadRegister = 5,
  kNoProgress = 6,  // the caller's stack pointer is not higher than the callee's stack pointer
  kTooDeep = 7,     // UnwindLimits::max_frames was reached
  // The return address of the last frame is in no executable mapping, or follows no call. The chain
  // does not contain this address.
  kBadReturnAddress = 8,
  // The last frame was called on another stack. That stack was not copied and could not be read, or
  // the call was not found on it.
  kStackSwitch = 9,
  kFileChanged = 10,  // the file of the last frame's image was overwritten
  kTooLongCfi = 11,   // the last frame's information takes too long to evaluate
  // The return address is 0, and neither the function nor the position of the word shows that the
  // stack begins there.
  kNoReturnAddress = 12,
  kNoStack = 13,  // the thread had dropped its stack (exec, or exit)
};

// Returns the mark that a recording has at the end of a chain cut for this reason.
constexpr uint64_t CutMarkOf(ChainEnd end) { return kCutMarks + static_cast<uint64_t>(end); }
static_assert(CutMarkOf(ChainEnd::kNoStack) == kNoStackMark);

// Returns a description for reports, such as "stack too short"; "unknown" for invalid values.
std::string_view ChainEndName(ChainEnd end);

enum class FrameOrigin : uint8_t {
  kRegisters,  // the frame is the interrupted function, at the sample's pc
  // The frame was found by the image's call frame information, or by the tables of a virtual
  // machine.
  kCfi,
  // The frame was found by instructions, by the frame pointer, or on top of the stack.
  kGuess,
};

// A frame of a chain.
struct UnwoundFrame {
  RuntimeAddress address;
  uint64_t stack_pointer = 0;  // the CFA of the previous frame
  FrameOrigin origin = FrameOrigin::kRegisters;
  bool is_return_address = false;  // true if `address` comes after a call
  bool late_read = false;          // true if ReadMemory was needed to find the frame

  // Returns the address that a call chain lists. For a caller, this is the last byte of its call,
  // because the next instruction may belong to other code if the call never returns.
  RuntimeAddress instruction() const {
    return RuntimeAddress{address.value - (is_return_address ? 1 : 0)};
  }

  bool operator==(const UnwoundFrame&) const = default;
};

// A chain. The caller reuses the object, so that no memory is allocated.
struct UnwoundChain {
  HugeVector<UnwoundFrame> frames;  // leaf first; never empty after Unwind
  ChainEnd end = ChainEnd::kNoImage;
  uint32_t guessed = 0;    // number of frames with kGuess
  uint32_t late_read = 0;  // number of frames with `late_read`
  // Image of the last frame; undefined for kNoImage.
  uint32_t end_image = 0;
  // Registers of the last frame, with which unwinding can continue if more of the stack is
  // available. Undefined for kBadReturnAddress.
  RegisterSet registers;

  bool whole() const { return end == ChainEnd::kThreadStart; }
};

// Bytes of the stack at the time of the sample, from address `start` on.
struct StackBytes {
  uint64_t start = 0;
  std::span<const std::byte> bytes;
  // True if the copy ended before its limit, so that the stack's memory ends with these bytes.
  bool reaches_end = false;
  // The words of the rest of the stack, for stacks with words of 8 bytes (stack_words.h). They begin
  // within `bytes` or at their end. Null: none. Must outlive the use of the bytes.
  const StackWords* rest = nullptr;
};

struct UnwindLimits {
  uint32_t max_frames = 127;   // largest number of frames in a chain, at least 1
  bool frame_pointers = true;  // true to guess the callers of frames that have no rule
  // True to leave out C frames between two Go frames: C code that a goroutine called on another
  // stack and that called Go.
  bool leaves_out_c = false;
};

// An engine that unwinds chains. It caches recent rules of all images, and recent chains of all
// processes. Not thread-safe: each thread that unwinds needs its own Unwinder and its own tables.
// Unwind allocates memory only if the chain needs more room or if a new function is compiled.
class Unwinder {
 public:
  // `switches` steps from functions that switch stacks, for example GoStackSwitches(). It must
  // outlive the unwinder. Null: chains end at such functions.
  explicit Unwinder(const StackSwitches* switches);
  Unwinder(Unwinder&&) noexcept;
  Unwinder& operator=(Unwinder&&) noexcept;
  ~Unwinder();

  // Unwinds one chain. `registers` must have pc and sp. To continue an unfinished chain, pass
  // UnwoundChain::registers; set `pc_is_return_address` if its last frame is a caller. Never fails:
  // errors in the input end the chain. The time is bounded for any input by max_frames, by the
  // limits of CfiTable, and by 2^14 steps of expressions.
  void Unwind(const RegisterSet& registers, StackBytes stack, UnwindSpace& space,
              const UnwindLimits& limits, UnwoundChain* chain, bool pc_is_return_address = false);

 private:
  const StackSwitches* switches_;
  std::unique_ptr<RuleCache> rules_;
  std::unique_ptr<KnownSteps> known_;
  uint64_t chains_ = 0;
};

}  // namespace profiler::symbolize
