// Declares the fuzz targets: functions that read hostile bytes. They run in two ways. libFuzzer
// (tools/fuzz) drives them for as long as you like. fuzz_test runs the seeds and a fixed number of
// mutations of each target in every `bazel test`.

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
  std::string_view what;  // kind of input, for messages
  // Feeds one input to the code under test. Must return for every input. An input that breaks a
  // law ends the process (Require).
  void (*run)(std::span<const std::byte> input);
  // Returns good inputs to start from, made by the project's own writers.
  std::vector<Bytes> (*seeds)();
  // True if an unchanged recording by another program can be an input.
  bool reads_recordings = false;
  // True if an input takes milliseconds; then test runs try fewer inputs.
  bool is_slow = false;
};

std::span<const FuzzTarget> Targets();

// Adds a target that only some fuzz programs have, and returns true. Call it before main() only.
bool AddTarget(const FuzzTarget& target);

// Returns the target of that name, or null.
const FuzzTarget* FindTarget(std::string_view name);

// Ends the process with the broken law's name if `holds` is false.
void Require(bool holds, const char* law);

// The targets. A target is in the file of its name, or in recording_targets.cc, command_targets.cc,
// codec_targets.cc, symbolize_targets.cc, import_targets.cc or fleet_targets.cc.
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
FuzzTarget PythonTarget();
FuzzTarget StackTarget();
FuzzTarget EventTarget();
FuzzTarget TracepointTarget();
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
// Targets whose inputs are programs that build the data to read (choices.h).
FuzzTarget JointTarget();
FuzzTarget SidebandTarget();
FuzzTarget ImageEditsTarget();

}  // namespace profiler::fuzz
