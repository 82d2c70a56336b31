#include "tests/fuzz/fuzz_target.h"

#include <cstdio>
#include <cstdlib>

namespace profiler::fuzz {

std::span<const FuzzTarget> Targets() {
  static const FuzzTarget kTargets[] = {
      FileTarget(),
      PipeTarget(),
      CompressedTarget(),
      ConvertTarget(),
      DumpTarget(),
      FeatureTarget(),
      RecordTarget(),
      AttrTarget(),
      ElfTarget(),
      DebugInfoTarget(),
      PerfMapTarget(),
      KallsymsTarget(),
      DemangleTarget(),
      CodeTarget(),
      UnwindTarget(),
      EventTarget(),
      ImportTarget(),
      ImportFoldedTarget(),
      ImportPerfScriptTarget(),
      ImportPprofTarget(),
      ImportLegacyPprofTarget(),
      ImportFirefoxTarget(),
      ImportSpeedscopeTarget(),
      ImportCpuProfileTarget(),
  };
  return kTargets;
}

const FuzzTarget* FindTarget(std::string_view name) {
  for (const FuzzTarget& target : Targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

void Require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %s\n", law);
  std::abort();
}

}  // namespace profiler::fuzz
