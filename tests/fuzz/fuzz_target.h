// What is fed hostile bytes. The same targets run in two ways: libFuzzer drives them for as long as
// somebody lets it (tools/fuzz), and fuzz_test gives each its seeds and a fixed number of mutations
// of them in every `bazel test`.

#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace profiler::fuzz {

using Bytes = std::vector<std::byte>;

inline Bytes ToBytes(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }
inline Bytes ToBytes(std::string_view text) { return ToBytes(std::as_bytes(std::span(text))); }

struct FuzzTarget {
  std::string_view name;
  std::string_view what;  // it reads
  // Must come back whatever the bytes say. A law that the bytes break ends the process (Require).
  void (*run)(std::span<const std::byte> input);
  // Good inputs to start from, made by the project's own writers.
  std::vector<Bytes> (*seeds)();
  // Files of others are inputs as they are.
  bool reads_recordings = false;
  // Takes milliseconds an input: fewer of them are enough for every test run.
  bool is_slow = false;
};

std::span<const FuzzTarget> Targets();

// Adds one that not every program has; true. Before main alone.
bool AddTarget(const FuzzTarget& target);

// Null where there is none.
const FuzzTarget* FindTarget(std::string_view name);

// Says which law is broken, and aborts.
void Require(bool holds, const char* law);

// In files of their names, and in recording_targets.cc, command_targets.cc, codec_targets.cc,
// symbolize_targets.cc, import_targets.cc and fleet_targets.cc.
FuzzTarget FileTarget();
FuzzTarget PipeTarget();
FuzzTarget CompressedTarget();
FuzzTarget ConvertTarget();
FuzzTarget DumpTarget();
FuzzTarget FeatureTarget();
FuzzTarget RecordTarget();
FuzzTarget AttrTarget();
FuzzTarget ElfTarget();
FuzzTarget DebugInfoTarget();
FuzzTarget PerfMapTarget();
FuzzTarget JitDumpTarget();
FuzzTarget KallsymsTarget();
FuzzTarget DemangleTarget();
FuzzTarget CodeTarget();
FuzzTarget UnwindTarget();
FuzzTarget V8Target();
FuzzTarget EventTarget();
FuzzTarget ImportTarget();
FuzzTarget ImportFoldedTarget();
FuzzTarget ImportPerfScriptTarget();
FuzzTarget ImportPprofTarget();
FuzzTarget ImportLegacyPprofTarget();
FuzzTarget ImportFirefoxTarget();
FuzzTarget ImportSpeedscopeTarget();
FuzzTarget ImportCpuProfileTarget();
FuzzTarget ImportChromeTraceTarget();
FuzzTarget ImportCallgrindTarget();
FuzzTarget ImportOtlpTarget();
FuzzTarget ConfinedTarget();
FuzzTarget SegmentTarget();
FuzzTarget JournalTarget();
FuzzTarget AnswerTarget();
FuzzTarget HttpAnswerTarget();
// Whose inputs are programs that build what is read (choices.h).
FuzzTarget JointTarget();
FuzzTarget SidebandTarget();
FuzzTarget ImageEditsTarget();

}  // namespace profiler::fuzz
