// Tells if HotSpot has unloaded classes between two times. HotSpot frees methods together with
// their classes. So if no class was unloaded since a sample, the methods read now are the ones that
// the sample saw. HotSpot counts unloaded classes before it frees them, in memory for its own tools
// (jstat):
//
//   PerfMemory::_start ──▶ prologue │ entry │ entry "java.cls.unloadedClasses" ──▶ value │ …
//
// Source: src/hotspot/share/runtime/{perfMemory.hpp,perfData.hpp},
// services/classLoadingService.cpp, JDK 17 and 25. With -XX:-UsePerfData there are no counters.
//
// Private to this package.

#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "symbolize/hotspot/layout.h"
#include "symbolize/process_memory.h"

namespace profiler::symbolize::hotspot {

// The counters of unloaded classes in one process. Not thread-safe.
class ClassUnloads {
 public:
  // Both arguments must outlive this object. `live` must not cache.
  ClassUnloads(ProcessMemory& live, const Layout& layout) : live_(live), layout_(layout) {}

  // Reads the counters. If two looks see the same counts, no class was unloaded between them.
  void Look();
  // Returns true if it is certain that no class was unloaded between `time` and now.
  bool NoneSince(uint64_t time) {
    Look();
    return since_ && *since_ <= time;
  }

 private:
  // Values of the counters java.cls.unloadedClasses and java.cls.sharedUnloadedClasses.
  using Counts = std::array<uint64_t, 2>;

  void FindCounters();
  std::optional<Counts> Read();

  ProcessMemory& live_;
  const Layout& layout_;
  uint32_t tries_ = 0;
  std::array<uint64_t, 2> addresses_{};
  Counts counts_{};
  std::optional<uint64_t> since_;  // a time at which the counts already had these values
};

}  // namespace profiler::symbolize::hotspot
