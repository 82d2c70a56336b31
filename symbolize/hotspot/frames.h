// Unwinds frames of code that HotSpot made, and names the code when it is met.
//
//   compiled, stubs of fixed size     sp + frame size ▶ ├─ caller's sp ─┤
//                                                − 8   │ return address │
//                                               − 16   │ caller's fp    │
//
//   interpreted   fp + 8  │ return address │      fp − 8    │ caller's sp at the call            │
//                 fp      │ caller's fp    │      fp − 16   │ sp at its own call; 0 while it runs│
//                                                 fp − 24   │ Method *                           │
//                                                 fp − 64   │ current bytecode                   │
//
//   adapters and stubs of other sizes: the return address is on top of the stack, where the frame
//   pointer points, or else the first return address found above the stack pointer
//
// The address listed for an interpreted frame is that of its bytecode; for a native method, that of
// its ConstMethod.
//
// Source: src/hotspot/cpu/x86/frame_x86.hpp and frame_x86.inline.hpp, JDK 17 and 25.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "symbolize/process_memory.h"
#include "symbolize/symbols/vm_code.h"
#include "symbolize/unwind/managed_code.h"

namespace profiler::symbolize::hotspot {

// Returns the address, in the memory of the process, of a variable that libjvm.so exports; empty if
// it exports no such variable.
using FindVariable = std::function<std::optional<uint64_t>(std::string_view name)>;

// The HotSpot of one process. Reads the layout of its data when the first frame is met. If the
// layout is missing, tries again later, because the VM may just be starting. Not thread-safe. Cost:
// some milliseconds for the layout, about 50 µs per new method and per new piece of code, 1 µs per
// other frame.
class HotSpotFrames final : public ManagedCode {
 public:
  // All arguments must outlive this object.
  HotSpotFrames(ProcessMemory& memory, FindVariable find, CodeSink& sink);
  ~HotSpotFrames() override;

  void Refresh() override;
  void Prepare() override { static_cast<void>(FindMachine()); }
  void SetTime(uint64_t time) override { time_ = time; }
  ManagedStep StepFrom(const ManagedFrame& frame, MemoryReader& stack) override;

  // Name of the first field that the VM's tables lack, so that its frames cannot be read. Empty: no
  // field is missing.
  const std::string& missing() const { return missing_; }

 private:
  class Machine;

  bool FindMachine();

  ProcessMemory& memory_;
  const FindVariable find_;
  CodeSink& sink_;
  std::unique_ptr<Machine> machine_;
  std::string missing_;
  uint32_t tries_ = 0, wait_ = 0;
  uint64_t time_ = kNow;
};

}  // namespace profiler::symbolize::hotspot
