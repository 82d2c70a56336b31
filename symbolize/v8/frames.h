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
// if two things are so:
//
//   1. The function of the frame has the bytecodes of the frame. Optimised code has none: there it
//      is the code of the frame that says whose it is, in its deoptimization data.
//   2. That was so in a look before the sample as well. Code that was optimised has a number that
//   V8
//      gives only once.
//
//   JSFunction ──▶ Code ──▶ InstructionStream │ header │ instructions │    the frame's pc
//                      ──▶ deoptimization data │ … │ optimization id │ SharedFunctionInfo │ …
//
// A frame without a name whose function may be the one that is there now has a frame pointer, as
// all of V8's have. What agrees with nothing is left to who asked.
//
// A function is listed at its SharedFunctionInfo, a byte for each way in which it runs, and named
// as V8 names it: JS:~f interpreted, JS:^f compiled as it stands, JS:*f optimised. An interpreted
// frame without a name is listed as [unknown JavaScript], not as the piece of V8 that runs it,
// which a reader would take for all that is there. A frame whose code is replaced by optimised code
// in the midst of a loop keeps its bytecodes, and is JS:^f. What optimised code has inlined is part
// of it.
//
// Source: src/execution/frame-constants.h, src/execution/frames.h, src/objects/code.h
// (Code, DeoptimizationData), V8 11.3.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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
  void SetTime(uint64_t time) override { time_ = time; }
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
    uint64_t since = 0;  // by when it was what it is, bytecodes included
    Word bytecode = 0;   // 0: it has none
    bool has_baseline = false;
    std::string name, file;
    std::array<uint64_t, kWays> given{};  // the sink's generation then
  };
  struct Found {
    Word shared = 0;
    Way way = Way::kInterpreted;
    Known* known = nullptr;
    bool was_there = false;  // when the sample was taken
  };
  // Instructions that V8 compiled.
  struct Code {
    struct Identity {
      uint64_t start = 0, end = 0;
      Word code = 0, stream = 0;
      Word id = 0;      // of the optimization; of baseline code its bytecodes
      Word shared = 0;  // whose it is; of baseline code 0
      bool operator==(const Identity&) const = default;
    };
    Identity identity;
    uint64_t since = 0, look = 0;
  };

  std::optional<Found> FunctionOf(const ManagedFrame& frame, MemoryReader& stack);
  std::optional<Found> ByFunction(const ManagedFrame& frame, const Words& words);
  std::optional<Found> ByCode(const Code& code);
  const Code* FindCode(uint64_t pc);
  void Learn(Word function);
  std::optional<Code::Identity> ReadCode(Word code);
  Known* LookAt(Word shared);
  void ReadBytecode(Word shared, Known* known);
  Word BytecodeIn(Word data);
  bool HasFrameNow(const ManagedFrame& frame);
  void Give(const Found& found);
  RuntimeAddress GiveNameless();
  ManagedStep ToCallerOfPiece(const ManagedFrame& frame, MemoryReader& stack);
  bool ReturnsToInterpreter(uint64_t pc) const;
  static bool IsCodeOf(const Code& code, const Found& found, const Words& words);
  std::optional<Words> ReadWords(const ManagedFrame& frame, MemoryReader& stack);

  static constexpr size_t kMostKnown = Functions::kMostFunctions;
  // Places in the interpreter to which bytecodes return: V8 has two.
  static constexpr size_t kReturns = 4;

  const Metadata data_;
  CodeSink& sink_;
  Heap heap_;
  Functions functions_;
  uint64_t look_ = 1;
  uint64_t time_ = kNow;                      // of the sample
  absl::flat_hash_map<Word, Known> known_;    // by SharedFunctionInfo
  std::map<uint64_t, Code> code_;             // by the last address
  std::array<uint64_t, kReturns> returns_{};  // to the interpreter; 0: none
  size_t next_return_ = 0;
  // Where all interpreted frames without a name are listed; 0: none was met.
  uint64_t nameless_ = 0;
  uint64_t nameless_given_ = 0;  // the sink's generation then
};

}  // namespace profiler::symbolize::v8
