// Parses single lines of `perf script`. The functions are pure; the results are views of the line.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace profiler::importers {

// The contents of the first line of a sample.
struct ScriptSample {
  std::string_view comm;
  std::optional<uint32_t> pid;  // unknown if the line has only one number, which is the tid
  uint32_t tid = 0;
  std::optional<uint32_t> cpu;
  std::optional<uint64_t> time;  // in ns
  std::optional<uint64_t> period;
  std::string_view event;
  std::string_view rest;  // text after the event
};
std::optional<ScriptSample> ParseScriptSample(std::string_view line);

// True for a line of another record, as `perf script --show-mmap-events` and similar options print:
// "comm pid/tid [cpu] seconds: PERF_RECORD_…".
bool IsScriptRecord(std::string_view line);

// The contents of the line of one function of a stack.
struct ScriptFrame {
  std::optional<uint64_t> address;
  std::string_view name;  // empty: no name ("[unknown]")
  std::optional<uint64_t> symbol_offset;
  std::string_view image;  // path; empty: "[unknown]", or not printed
  bool inlined = false;
};
std::optional<ScriptFrame> ParseScriptFrame(std::string_view line);

// Parses a frame at the end of the text after an event.
std::optional<ScriptFrame> FindScriptFrame(std::string_view rest);

// A line of source code: "  file.c:12".
struct ScriptLine {
  std::string_view file;
  uint32_t line = 0;
};
std::optional<ScriptLine> ParseScriptLine(std::string_view line);

}  // namespace profiler::importers
