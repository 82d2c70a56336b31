// Tells if HotSpot has unloaded classes between two times. Methods are freed with their classes, so
// as long as none is unloaded, the methods that are read are those of the sample. HotSpot counts
// the classes before it frees them, where its own tools (jstat) read that:
//
//   PerfMemory::_start ──▶ prologue │ entry │ entry "java.cls.unloadedClasses" ──▶ value │ …
//
// Source: src/hotspot/share/runtime/{perfMemory.hpp,perfData.hpp},
// services/classLoadingService.cpp, JDK 17 and 25. There is none with -XX:-UsePerfData.
//
// Private to this package.

#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "symbolize/hotspot/layout.h"
#include "symbolize/process_memory.h"

namespace profiler::symbolize::hotspot {

// Not thread-safe.
class ClassUnloads {
 public:
  // Both must outlive it. `live` is read anew each time.
  ClassUnloads(ProcessMemory& live, const Layout& layout) : live_(live), layout_(layout) {}

  // Reads the counters. Between two looks without an unloaded class there was none.
  void Look();
  // True if it is known that no class was unloaded between `time` and now.
  bool NoneSince(uint64_t time) {
    Look();
    return since_ && *since_ <= time;
  }

 private:
  using Counts = std::array<uint64_t, 2>;  // unloaded classes, and those of shared archives

  void FindCounters();
  std::optional<Counts> Read();

  ProcessMemory& live_;
  const Layout& layout_;
  uint32_t tries_ = 0;
  std::array<uint64_t, 2> addresses_{};
  Counts counts_{};
  std::optional<uint64_t> since_;  // by when the counts were what they are
};

}  // namespace profiler::symbolize::hotspot
