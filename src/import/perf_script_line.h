// Lines of `perf script`, one by one. Pure functions; the results are views of the line.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace profiler::import {

// The line that begins a sample.
struct ScriptSample {
  std::string_view comm;
  std::optional<uint32_t> pid;  // unknown where there is one number alone, which is the tid
  uint32_t tid = 0;
  std::optional<uint32_t> cpu;
  std::optional<uint64_t> time;  // nanoseconds
  std::optional<uint64_t> period;
  std::string_view event;
  std::string_view rest;  // behind the event
};
std::optional<ScriptSample> ParseScriptSample(std::string_view line);

// True for a line of another record, as `perf script --show-mmap-events` and its kin print them:
// "comm pid/tid [cpu] seconds: PERF_RECORD_…".
bool IsScriptRecord(std::string_view line);

// The line of one function on a stack.
struct ScriptFrame {
  std::optional<uint64_t> address;
  std::string_view name;  // empty: it has none ("[unknown]")
  std::optional<uint64_t> symbol_offset;
  std::string_view image;  // a path; empty: "[unknown]", or not printed
  bool inlined = false;
};
std::optional<ScriptFrame> ParseScriptFrame(std::string_view line);

// The same at the end of what follows an event.
std::optional<ScriptFrame> FindScriptFrame(std::string_view rest);

// "  file.c:12"
struct ScriptLine {
  std::string_view file;
  uint32_t line = 0;
};
std::optional<ScriptLine> ParseScriptLine(std::string_view line);

}  // namespace profiler::import
