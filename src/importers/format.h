// Lists the formats of other programs that can be imported, and recognises a file's format by its
// bytes instead of its name.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::importers {

enum class Format : uint8_t {
  kFolded,       // FlameGraph's stacks, one per line
  kPerfScript,   // the text of `perf script`
  kPprof,        // profile.proto, compressed or not
  kLegacyPprof,  // formats of gperftools, jemalloc and old Java and Go agents
  kFirefox,      // profiles of the Firefox Profiler
  kSpeedscope,
  kCpuProfile,   // CPU profiles of V8: Chrome and Node.js
  kChromeTrace,  // trace events: CPU profiles in pieces, or slices
  kCallgrind,
  kOtlp,  // OpenTelemetry
};

// Returns the name of the format in messages.
std::string_view TitleOf(Format format);

// Returns "folded, perf-script, …".
std::string FormatNames();

std::optional<Format> FormatNamed(std::string_view name);

// Recognises a file's format by its beginning; `start` may be the whole file. Bytes after the first
// 64 KiB matter only for JSON, whose members can have any order. A compressed file has to be
// inflated first. Reading the file may still fail.
std::optional<Format> Recognize(std::string_view start);

}  // namespace profiler::importers
