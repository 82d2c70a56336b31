// Frames of JavaScript in a process with V8, which was built with what debuggers need (metadata.h)
// and needs no option:
//
//   fp + 8    return address
//   fp        caller's fp
//   fp - 8    Context                    a small integer in frames that are no function's
//   fp - 16   JSFunction ──▶ SharedFunctionInfo ──▶ its name and script (functions.h)
//   fp - 32   BytecodeArray              of what is interpreted, or compiled without optimisation
//
// The stack is a copy of what it was when the sample was taken; all else is read a moment later,
// when a collector may have moved it, and something else may lie there. So a frame has a name only
// if two things agree: the function of the frame has the bytecodes of the frame, or where those are
// not known, the context of the frame. What agrees with neither is left to who asked, without a
// name.
//
// A function is listed at its SharedFunctionInfo, a byte for each way in which it runs, and named
// as V8 names it: JS:~f interpreted, JS:^f compiled as it stands, JS:*f optimised. A frame whose
// code is replaced by optimised code in the midst of a loop keeps its bytecodes, and is JS:^f. What
// optimised code has inlined is part of it.
//
// Source: src/execution/frame-constants.h, src/execution/frames.h, V8 11.3.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolize/process_memory.h"
#include "symbolize/symbols/made_code.h"
#include "symbolize/unwind/managed_code.h"
#include "symbolize/v8/functions.h"
#include "symbolize/v8/heap.h"
#include "symbolize/v8/metadata.h"

namespace profiler::symbolize::v8 {

// Knows frames of x86-64, and of AArch64 those that called something. A process that means harm has
// some 20 MB of names and lines here, any other a tenth of that.
class Frames final : public ManagedCode {
 public:
  // All must outlive it.
  Frames(ProcessMemory& memory, const Metadata& data, CodeSink& sink)
      : data_(data), sink_(sink), heap_(memory, data_), functions_(heap_) {}
  Frames(const Frames&) = delete;

  // The interpreter, and what its bytecodes do.
  bool HasCodeInImages() const override { return true; }
  void Refresh() override;
  ManagedStep StepFrom(const ManagedFrame& frame, MemoryReader& stack) override;

 private:
  enum class Way : uint8_t { kInterpreted, kBaseline, kOptimised };
  static constexpr size_t kWays = 3;

  // A frame's words.
  struct Words {
    Word function = 0, context = 0, bytecode = 0;
  };
  // A function, as it was when it was looked at last.
  struct Known {
    uint64_t look = 0;
    Word bytecode = 0;  // 0: it has none
    bool has_baseline = false;
    std::string name, file;
    std::array<uint64_t, kWays> given{};  // the sink's generation then
  };
  struct Found {
    Word shared = 0;
    Way way = Way::kInterpreted;
    Known* known = nullptr;
  };

  std::optional<Found> FunctionOf(const ManagedFrame& frame, MemoryReader& stack);
  std::optional<Way> WayOf(const ManagedFrame& frame, const Words& words, Word context,
                           const Known& known);
  Known* LookAt(Word shared);
  void ReadBytecode(Word shared, Known* known);
  Word BytecodeIn(Word data);
  bool HasFrameNow(const ManagedFrame& frame);
  bool IsOptimisedCodeOf(uint64_t pc, Word shared);
  void Give(const Found& found);
  ManagedStep ToInterpreter(const ManagedFrame& frame, MemoryReader& stack);

  static constexpr size_t kMostKnown = Functions::kMostFunctions;
  // Places in the interpreter to which bytecodes return: V8 has two.
  static constexpr size_t kReturns = 4;

  const Metadata data_;
  CodeSink& sink_;
  Heap heap_;
  Functions functions_;
  uint64_t look_ = 1;
  absl::flat_hash_map<Word, Known> known_;    // by SharedFunctionInfo
  absl::flat_hash_map<uint64_t, Word> code_;  // by return address, whose optimised code that is
  std::array<uint64_t, kReturns> returns_{};  // to the interpreter; 0: none
  size_t next_return_ = 0;
};

}  // namespace profiler::symbolize::v8
