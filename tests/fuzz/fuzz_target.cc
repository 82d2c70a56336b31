#include "tests/fuzz/fuzz_target.h"

#include <cstdio>
#include <cstdlib>

namespace profiler::fuzz {

namespace {

std::vector<FuzzTarget>& AllTargets() {
  static std::vector<FuzzTarget>& targets = *new std::vector<FuzzTarget>{
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
      JitDumpTarget(),
      KallsymsTarget(),
      DemangleTarget(),
      CodeTarget(),
      UnwindTarget(),
      V8Target(),
      PythonTarget(),
      StackTarget(),
      EventTarget(),
      TracepointTarget(),
      ImportTarget(),
      ImportFoldedTarget(),
      ImportPerfScriptTarget(),
      ImportPprofTarget(),
      ImportLegacyPprofTarget(),
      ImportFirefoxTarget(),
      ImportSpeedscopeTarget(),
      ImportCpuProfileTarget(),
      ImportChromeTraceTarget(),
      ImportCallgrindTarget(),
      ImportOtlpTarget(),
      ConfinedTarget(),
      SegmentTarget(),
      JournalTarget(),
      AnswerTarget(),
      HttpAnswerTarget(),
      JointTarget(),
      SidebandTarget(),
      ImageEditsTarget(),
  };
  return targets;
}

}  // namespace

bool AddTarget(const FuzzTarget& target) {
  AllTargets().push_back(target);
  return true;
}

std::span<const FuzzTarget> Targets() { return AllTargets(); }

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
