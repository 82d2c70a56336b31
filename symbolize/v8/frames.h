// Unwinds and names JavaScript frames of a process with V8. V8 must be built with metadata for
// debuggers (metadata.h); the process needs no option.
//
//   fp + 8    return address
//   fp        caller's fp
//   fp - 8    Context                    a small integer in frames that belong to no function
//   fp - 16   JSFunction ──▶ SharedFunctionInfo ──▶ its name and script (functions.h)
//   fp - 32   BytecodeArray              in interpreted and baseline code
//
// The stack is a copy from the time of the sample. All other memory is read a moment later, when a
// garbage collector may have moved objects and others may be at their addresses. So a frame gets a
// name only if both conditions hold:
//
//   1. The function of the frame has the bytecodes of the frame. Optimised code has no bytecodes;
//      instead, the deoptimization data of the frame's code refer to the function.
//   2. An earlier look, before the sample, found the same. Optimised code has an id that V8 never
//      uses again.
//
//   JSFunction ──▶ Code ──▶ InstructionStream │ header │ instructions │    the frame's pc
//                      ──▶ deoptimization data │ … │ optimization id │ SharedFunctionInfo │ …
//
// If condition 2 fails, the frame has no name but is unwound by its frame pointer, as all of V8's
// frames. If nothing matches, the caller of StepFrom has to guess.
//
// The address listed for a function is that of its SharedFunctionInfo, plus 0, 1 or 2 for the way
// in which it runs. Names are those of V8: JS:~f interpreted, JS:^f baseline, JS:*f optimised. An
// interpreted frame without a name is listed as [unknown JavaScript], because readers would take
// the name of V8's interpreter for the whole truth. A frame whose loop is replaced by optimised
// code keeps its bytecodes and remains JS:^f. Calls inlined into optimised code have no frames of
// their own.
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
#include "symbolize/symbols/vm_code.h"
#include "symbolize/unwind/managed_code.h"
#include "symbolize/v8/functions.h"
#include "symbolize/v8/heap.h"
#include "symbolize/v8/metadata.h"

namespace profiler::symbolize::v8 {

// The JavaScript frames of a process: on x86-64 all frames, elsewhere only those that made a call.
// Needs about 2 MB for names and lines; a hostile process can make it use 20 MB.
class Frames final : public ManagedCode {
 public:
  // All arguments must outlive this object.
  Frames(ProcessMemory& memory, const Metadata& data, CodeSink& sink)
      : data_(data), sink_(sink), heap_(memory, data_), functions_(heap_) {}
  Frames(const Frames&) = delete;

  // Returns true, because V8's image contains the interpreter and its bytecode handlers.
  bool HasCodeInImages() const override { return true; }
  void Refresh() override;
  void SetTime(uint64_t time) override { time_ = time; }
  ManagedStep StepFrom(const ManagedFrame& frame, MemoryReader& stack) override;

 private:
  enum class Way : uint8_t { kInterpreted, kBaseline, kOptimised };
  static constexpr size_t kWays = 3;

  // Words of a frame.
  struct Words {
    Word function = 0, context = 0, bytecode = 0;
  };
  // A function, as of the last look.
  struct Known {
    uint64_t look = 0;
    uint64_t since = 0;  // a time at which the function already had this state and these bytecodes
    Word bytecode = 0;   // the function's BytecodeArray; 0: none
    bool has_baseline = false;
    std::string name, file;
    // [way]: the sink's generation when the function was given to the sink.
    std::array<uint64_t, kWays> given{};
  };
  struct Found {
    Word shared = 0;
    Way way = Way::kInterpreted;
    Known* known = nullptr;
    bool was_there = false;  // true if it was there when the sample was taken
  };
  // Instructions compiled by V8.
  struct Code {
    struct Identity {
      uint64_t start = 0, end = 0;
      Word code = 0, stream = 0;
      Word id = 0;      // optimization id; for baseline code its bytecodes
      Word shared = 0;  // the function; for baseline code 0
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
  // Return addresses in the interpreter; V8 has two.
  static constexpr size_t kReturns = 4;

  const Metadata data_;
  CodeSink& sink_;
  Heap heap_;
  Functions functions_;
  uint64_t look_ = 1;
  uint64_t time_ = kNow;                      // time of the current sample
  absl::flat_hash_map<Word, Known> known_;    // keyed by SharedFunctionInfo
  std::map<uint64_t, Code> code_;             // keyed by the last address of the code
  std::array<uint64_t, kReturns> returns_{};  // return addresses in the interpreter; 0: none
  size_t next_return_ = 0;
  // Address that lists all interpreted frames without a name; 0: there was none yet.
  uint64_t nameless_ = 0;
  uint64_t nameless_given_ = 0;  // the sink's generation when nameless_ was given to it
};

}  // namespace profiler::symbolize::v8
