// Code that a virtual machine made, as whoever reads the machine's tables tells of it while the
// process lives: what lies where from now on, under which name, and what was inlined into it.
//
//   ManagedCode (symbolize/unwind)  ──▶ CodeSink ──▶ a dump as JITs write them (jit_dump_writer.h)
//   meets a frame in new code

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "src/base/address.h"
#include "symbolize/symbols/jit_dump.h"

namespace profiler::symbolize {

// Views are good for the call that they are given to.
struct MadeCode {
  RuntimeAddress start;
  // Its bytes, or bytecodes; not empty. That there are so many at `start` is what names addresses.
  std::span<const std::byte> bytes;
  bool is_bytecode = false;  // of a virtual machine: nothing that a processor executes
  std::string_view name;     // without NUL
  std::string_view file;     // of its source; empty: unknown
  // What was inlined into it, and which line is where, by distance; as JitDump has them.
  std::span<const JitDump::Call> calls;
  std::span<const JitDump::Place> places;
};

// One process's code through time. Not thread-safe.
class CodeSink {
 public:
  virtual ~CodeSink() = default;

  // The code is there from the sample at hand on, and takes the place of what it overlaps. The same
  // code may be given again, where something else may have taken its place meanwhile.
  virtual void Add(const MadeCode& code) = 0;
  // Changes where what was given before may have been covered by something else: it has to be given
  // again when it is met again.
  virtual uint64_t Generation() const = 0;
  // Whether the process tells of its compiled code itself: then only bytecodes are taken.
  virtual bool LeavesCompiled() const { return false; }
};

}  // namespace profiler::symbolize
