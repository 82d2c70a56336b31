// The interface through which readers of a virtual machine's tables report the machine's code:
// names, addresses and inlined calls.
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

// A piece of code. Views are valid during the call that gets it.
struct VmCode {
  RuntimeAddress start;
  // Machine code or bytecodes; not empty. All addresses in it get this name.
  std::span<const std::byte> bytes;
  bool is_bytecode = false;  // bytecode, not machine code
  std::string_view name;     // contains no NUL
  std::string_view file;     // source file; empty: unknown
  // Name of the image that views show for bytecodes, such as "[python]"; empty: the dump's name. All
  // such code of a process has the same one.
  std::string_view image;
  // Inlined calls, and places sorted by distance, as in JitDump.
  std::span<const JitDump::Call> calls;
  std::span<const JitDump::Place> places;
};

// A receiver of the code of one process, in time order. Not thread-safe.
class CodeSink {
 public:
  virtual ~CodeSink() = default;

  // Adds code that is in memory from the current sample on. It replaces code that it overlaps. The
  // same code may be added again, if other code may have replaced it meanwhile.
  virtual void Add(const VmCode& code) = 0;
  // Returns a number that changes when the sink may have overwritten code. After a change, code
  // that is met again must be added again.
  virtual uint64_t Generation() const = 0;
  // Returns true if the process writes its own perf map or jitdump; then only bytecodes are
  // accepted.
  virtual bool LeavesCompiled() const { return false; }
};

}  // namespace profiler::symbolize
