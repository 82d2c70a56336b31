// Frames of code that a virtual machine made while it ran, of which no image tells anything: what a
// JIT compiled, what an interpreter runs, and the stubs between them. Whoever knows the tables of
// such a machine says where the caller of a frame is, and what the frame is listed as:
//
//   stack                     frames
//   compiled  Java  f    ──▶  the instruction in f
//   the interpreter      ──▶  the bytecode that it is at: one address for each place of a method
//   compiled  Java  main ──▶  the instruction in main
//   libjvm.so            ──▶  by call frame information, as always
//
// The engine asks only where it is in memory without an image, or where a machine has code in its
// image, at addresses without call frame information, so native frames cost what they did.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/address.h"
#include "symbolize/unwind/memory_reader.h"
#include "symbolize/unwind/registers.h"

namespace profiler::symbolize {

// The frame whose caller is asked for.
struct ManagedFrame {
  // pc, sp and fp are known; the others are where the frame was interrupted, and no engine step
  // has come before.
  const RegisterSet& registers;
  bool is_return_address = false;  // pc is one; else the frame was interrupted there
  bool is_in_image = false;        // where HasCodeInImages
};

struct ManagedStep {
  enum class Kind : uint8_t {
    kUnknown,     // no code of the machine: it is guessed at, as if nobody had been asked
    kFrameless,   // like kUnknown, but the frame pointer is a caller's, and may not be followed
    kCaller,      // what follows is known
    kUnreadable,  // the stack is needed further out than it can be read: the last ReadBytes failed
    kLost,        // it is the machine's, but the frame makes no sense: the chain ends
  };

  Kind kind = Kind::kUnknown;
  // The caller's, with kCaller. Its pc is a return address.
  uint64_t pc = 0, sp = 0, fp = 0;
  // Of kCaller: the first address above the word that the return address was read from, which is
  // `sp` unless the caller's frame has grown since. Joined chains know a frame by it.
  uint64_t frame_end = 0;
  // Of kCaller: what the chain lists for the frame itself. 0: its pc, as of any frame.
  RuntimeAddress listed;
  // True, of kCaller, if the caller was searched for, and nothing proves that it is the caller.
  bool is_guessed = false;
};

// One process's machine. Its tables are read after the sample, so a table's entry is used only if
// it is known to be the entry of that time: the machine had it before the sample, and still has it.
// Everything it reads may have been written to deceive: it answers in bounded time and memory,
// whatever is there. Not thread-safe.
class ManagedCode {
 public:
  virtual ~ManagedCode() = default;

  // Whether frames of its code may be in images as well.
  virtual bool HasCodeInImages() const { return false; }

  // Some milliseconds have gone by: what was read before may be otherwise by now.
  virtual void Refresh() {}
  // Reads what has to be known before the first sample. Called where a process is known to run
  // before it is recorded.
  virtual void Prepare() {}
  // The stack words of the frames that are asked for next were there at `time` (CLOCK_MONOTONIC,
  // ns). kNow: they are still there, because the thread has not run since.
  static constexpr uint64_t kNow = UINT64_MAX;
  virtual void SetTime(uint64_t time) { static_cast<void>(time); }

  // `stack` reads the copied stack, and the live one where that is permitted.
  virtual ManagedStep StepFrom(const ManagedFrame& frame, MemoryReader& stack) = 0;
};

}  // namespace profiler::symbolize
