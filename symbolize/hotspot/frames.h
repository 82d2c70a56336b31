// The frames of code that HotSpot made, for the unwinder, and their names as they are met.
//
//   compiled, stubs of fixed size     sp + frame size ▶ ├─ caller's sp ─┤
//                                                − 8   │ return address │
//                                               − 16   │ caller's fp    │
//
//   interpreted   fp + 8  │ return address │      fp − 8    │ caller's sp, as it was at the call │
//                 fp      │ caller's fp    │      fp − 16   │ sp at its own call; 0 while it runs │
//                                                 fp − 24   │ Method *                            │
//                                                 fp − 64   │ bytecode that it is at              │
//
//   adapters and collections of stubs: the return address is on top of the stack, where the frame
//   pointer says, or else the first one that is found above the stack pointer
//
// An interpreted frame is listed at its bytecode, of a native method at its ConstMethod.
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
#include "symbolize/symbols/made_code.h"
#include "symbolize/unwind/managed_code.h"

namespace profiler::symbolize::hotspot {

// The address of an exported variable of libjvm.so in the process; nothing where there is none.
using FindVariable = std::function<std::optional<uint64_t>(std::string_view name)>;

// One process's HotSpot. Not thread-safe. Reads the layout of its data when the first frame is met,
// and again after a while where it was not there yet: the VM may just be starting. Cost: some
// milliseconds for the layout, some 50 µs for each method and piece of code that is met for the
// first time, and a microsecond for each frame otherwise.
class HotSpotFrames final : public ManagedCode {
 public:
  // All must outlive it.
  HotSpotFrames(ProcessMemory& memory, FindVariable find, CodeSink& sink);
  ~HotSpotFrames() override;

  void Refresh() override;
  void Prepare() override { static_cast<void>(FindMachine()); }
  void SetTime(uint64_t time) override { time_ = time; }
  ManagedStep StepFrom(const ManagedFrame& frame, MemoryReader& stack) override;

  // What of its layout the VM does not say, so that nothing is known of its frames; empty: nothing.
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
