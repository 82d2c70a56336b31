// From the registers and stack bytes of a sample to its call chain.
//
//   copied stack                      frames, leaf first
//   sp ▶ │ locals       │            [0] address = pc      the interrupted instruction
//        │ return addr  │ ──────────▶ [1] address          a return address: looked up at
//        ├─ CFA of [0] ─┤                                   address − 1
//        │ saved fp     │
//        │ return addr  │ ──────────▶ [2] …
//        └─ CFA of [1] ─┘
//
// Each step finds the image at the frame's pc, its rule (cfi_table.h), and from it CFA, return
// address and frame pointer of the caller. Where an image says nothing of a function (hand-written
// assembly, the C library of musl) a rule is derived from its instructions (derived_rules.h); where
// that does not lead to a caller, and in memory without an image (JIT code), the frame pointer is
// followed. A frame found in these ways is marked as a guess, unless its call is one of the
// function whose instructions led to it. Helpers that a function of assembly calls inside itself
// are functions of their own (helper_rules.h). A function that was interrupted may not have set its
// frame up yet, or may have taken it down, and one that called may have no frame pointer at all:
// its next instructions say so (bare_frame.h). The caller of one that says nothing is searched for
// in the link register and on top of the stack, if it is part of an image. The caller of a signal
// frame was interrupted, so it is looked up at its address itself. What a virtual machine has made
// is asked for at what knows its tables, where the space has that (managed_code.h); then nothing is
// guessed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "src/base/address.h"
#include "src/base/chain_quality.h"
#include "src/base/huge_vector.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

class KnownSteps;
class ManagedCode;
class RuleCache;

// Executable memory of one process: part of an image, or memory without a file.
struct MappedCode {
  RuntimeAddress start;
  uint64_t size = 0;
  uint64_t bias = 0;        // runtime address − ELF address, modulo 2^64; the same in all of it
  CfiTable* cfi = nullptr;  // null: nothing is known of its frames (JIT code, unreadable file)
  uint32_t image = 0;       // for the caller's statistics; the engine only hands it on

  bool Holds(RuntimeAddress a) const { return a >= start && a.value - start.value < size; }
};

// One process at one time, as the unwinder asks for it.
class UnwindSpace {
 public:
  virtual ~UnwindSpace() = default;
  // The code at `address`; false where nothing executable is mapped. Asked once for each run of
  // frames in one mapping.
  virtual bool FindCode(RuntimeAddress address, MappedCode* code) = 0;
  // As long as this is the same number, FindCode says the same of every address, and no other space
  // has it. 0: nobody knows, and nothing is taken over from one chain to the next (known_steps.h).
  virtual uint64_t Identity() const { return 0; }
  // Fills `bytes` with memory that is not in the copied stack: of the live process, or what the
  // file has of a mapping that cannot be written. False where it cannot.
  virtual bool ReadMemory(uint64_t address, std::span<std::byte> bytes) {
    static_cast<void>(address), static_cast<void>(bytes);
    return false;
  }
  // The same of code, for which an older state may do.
  virtual bool ReadCode(RuntimeAddress address, std::span<std::byte> bytes) {
    return ReadMemory(address.value, bytes);
  }
  // What knows the virtual machine of this process; null where there is none, or nothing is known
  // of it. Asked for frames in memory without an image.
  virtual ManagedCode* Managed() { return nullptr; }
};

// Why an unwound chain ends where it does. The values are those of the marks that end cut chains in
// recordings (src/perf_data/FORMAT.md), so they stay as they are.
enum class ChainEnd : uint8_t {
  // The stack begins with the last frame: its information says so, it is the entry point, its code
  // never returns, or its return address of 0 is the stack's last word. The chain is whole.
  kThreadStart = 0,
  kNoImage = 1,        // the interrupted instruction is in no known mapping
  kNoCfi = 2,          // the last frame's image says nothing of it, nor does its frame pointer help
  kStackTooShort = 3,  // the next word needed lies behind the copied bytes and could not be read
  kCopiedShort = 4,    // the copied stack ends too early, and is shorter than was asked for
  kBadRegister = 5,    // a needed register is unknown, or points nowhere near the stack
  kNoProgress = 6,     // the caller's stack pointer is not above its callee's
  kTooDeep = 7,        // UnwindLimits::max_frames
  // What was found as the last frame's return address is in no executable mapping, or follows no
  // call. It is no frame.
  kBadReturnAddress = 8,
  // The last frame was called on another stack, which was not copied and could not be read, or
  // where no call of it was found.
  kStackSwitch = 9,
  kFileChanged = 10,  // the file of the last frame's image was overwritten after it was opened
  kTooLongCfi = 11,   // what the last frame's image says of it takes too long to evaluate
  // The return address is 0, and neither the last frame's function nor the word's position shows
  // that the stack begins there.
  kNoReturnAddress = 12,
  kNoStack = 13,  // the thread had dropped its stack: an exec or its exit was under way
};

// The mark that ends a chain in a recording which is cut for this reason.
constexpr uint64_t CutMarkOf(ChainEnd end) { return kCutMarks + static_cast<uint64_t>(end); }
static_assert(CutMarkOf(ChainEnd::kNoStack) == kNoStackMark);

// In words for a report, such as "stack too short".
std::string_view ChainEndName(ChainEnd end);  // "unknown" for values that are none

enum class FrameOrigin : uint8_t {
  kRegisters,  // the sample's pc
  kCfi,        // by the image's call frame information, or the tables of a virtual machine
  kGuess,      // there was none: by instructions, the frame pointer, or what is on top of the stack
};

struct UnwoundFrame {
  RuntimeAddress address;
  uint64_t stack_pointer = 0;  // of this frame: the CFA of the one before
  FrameOrigin origin = FrameOrigin::kRegisters;
  bool is_return_address = false;  // the instruction is before `address`
  bool late_read = false;          // ReadMemory was needed to find it

  // What a call chain lists: of a caller the last byte of its call, so that one that never returns
  // is not taken for what follows it.
  RuntimeAddress instruction() const {
    return RuntimeAddress{address.value - (is_return_address ? 1 : 0)};
  }

  bool operator==(const UnwoundFrame&) const = default;
};

// Kept by the caller and filled again and again, so that no memory is allocated.
struct UnwoundChain {
  HugeVector<UnwoundFrame> frames;  // leaf first; never empty after Unwind
  ChainEnd end = ChainEnd::kNoImage;
  uint32_t guessed = 0;    // frames of kGuess
  uint32_t late_read = 0;  // frames so marked
  // The image of the last frame, to blame; without meaning for kNoImage.
  uint32_t end_image = 0;
  // Of the last frame: where unwinding can go on from, with more of the stack. Without meaning for
  // kBadReturnAddress.
  RegisterSet registers;

  bool whole() const { return end == ChainEnd::kThreadStart; }
};

// Bytes of the stack as they were at the sample, from the address `start` on.
struct StackBytes {
  uint64_t start = 0;
  std::span<const std::byte> bytes;
  // True if the copy ended before its limit, so the stack's memory ends with these bytes.
  bool reaches_end = false;
};

struct UnwindLimits {
  uint32_t max_frames = 127;   // at least 1
  bool frame_pointers = true;  // guess where there is no rule
  // Where C that a goroutine has called, on another stack, has called Go: without that C.
  bool leaves_out_c = false;
};

// Has the last rules used, by image and address, over all processes, and the last chains. Not
// thread-safe; a thread that unwinds has its own, with its own tables. Allocates nothing in Unwind
// but room in the chain, and what the tables need to compile a function that was not met before.
class Unwinder {
 public:
  Unwinder();
  Unwinder(Unwinder&&) noexcept;
  Unwinder& operator=(Unwinder&&) noexcept;
  ~Unwinder();

  // The registers must know pc and sp. With `pc_is_return_address` they are those of a caller in a
  // chain that was left unfinished (UnwoundChain::registers). Never fails: what is wrong with the
  // input is the chain's end. Bounded by max_frames, whatever the input, and by the limits of
  // CfiTable; at most 2^14 steps of expressions.
  void Unwind(const RegisterSet& registers, StackBytes stack, UnwindSpace& space,
              const UnwindLimits& limits, UnwoundChain* chain, bool pc_is_return_address = false);

 private:
  std::unique_ptr<RuleCache> rules_;
  std::unique_ptr<KnownSteps> known_;
  uint64_t chains_ = 0;
};

}  // namespace profiler::symbolize
