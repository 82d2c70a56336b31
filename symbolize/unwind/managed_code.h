// The interface for frames of a virtual machine's code (JIT code, interpreters, and stubs between
// them), about which no image has information. Code that knows the machine's tables returns the
// caller of a frame, and the address to list for the frame:
//
//   stack                     frames
//   compiled  Java  f    ──▶  the instruction in f
//   the interpreter      ──▶  the current bytecode: one address per position in a method
//   compiled  Java  main ──▶  the instruction in main
//   libjvm.so            ──▶  by call frame information, as always
//
// The engine calls this interface only in memory without an image, and, if the machine has code in
// its image, at addresses without call frame information. So other native frames cost nothing
// extra.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/address.h"
#include "symbolize/unwind/memory_reader.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

// The frame whose caller is wanted.
struct ManagedFrame {
  // pc, sp and fp are known. Other registers are known only for an interrupted frame before the
  // first engine step.
  const RegisterSet& registers;
  bool is_return_address = false;  // true if pc is a return address, false if interrupted at pc
  bool is_in_image = false;        // pc is in an image; always false without HasCodeInImages
};

// The step from a frame to its caller.
struct ManagedStep {
  enum class Kind : uint8_t {
    // The frame is in no code of the machine; the engine guesses as if there were no machine.
    kUnknown,
    // Like kUnknown, but the frame pointer belongs to a caller and must not be followed.
    kFrameless,
    kCaller,  // the caller is known
    // The stack cannot be read far enough; the last ReadBytes failed.
    kUnreadable,
    // Code of the machine, but the frame is invalid; the chain ends.
    kLost,
  };

  Kind kind = Kind::kUnknown;
  // kCaller: the caller's registers. pc is a return address.
  uint64_t pc = 0, sp = 0, fp = 0;
  // kCaller: the address after the word with the return address. Equals `sp`, unless the caller's
  // frame has grown after the call. Identifies the frame when chains are joined.
  uint64_t frame_end = 0;
  // kCaller: the address that the chain lists for the frame itself; 0: its pc.
  RuntimeAddress listed;
  // kCaller: true if the caller was found by searching, without proof.
  bool is_guessed = false;
};

// The machine of one process. Its tables are read after the sample, so an entry is used only if it
// certainly existed at the time of the sample: the machine had it before, and still has it. All it
// reads is untrusted; it answers in bounded time and memory. Not thread-safe.
class ManagedCode {
 public:
  virtual ~ManagedCode() = default;

  // Returns true if the machine also has code in images.
  virtual bool HasCodeInImages() const { return false; }

  // Tells the machine that values read before may have changed. Called every few milliseconds.
  virtual void Refresh() {}
  // Reads state that must be known before the first sample. Called if the process was already
  // running when the recording began.
  virtual void Prepare() {}
  // Sets the time (CLOCK_MONOTONIC, ns) at which the stack words of the next frames were valid.
  // kNow: they are still valid, because the thread has not run since the sample.
  static constexpr uint64_t kNow = UINT64_MAX;
  virtual void SetTime(uint64_t time) { static_cast<void>(time); }

  // Returns the step from `frame`. `stack` reads the copied stack, and live memory if that is
  // permitted.
  virtual ManagedStep StepFrom(const ManagedFrame& frame, MemoryReader& stack) = 0;
};

}  // namespace profiler::symbolize
