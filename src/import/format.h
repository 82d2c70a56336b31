// The formats of other programs that are read, and how a file is known to be of one: by its bytes,
// not by its name.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::import {

enum class Format : uint8_t {
  kFolded,       // FlameGraph's stacks, a line each
  kPerfScript,   // the text of `perf script`
  kPprof,        // profile.proto, compressed or not
  kLegacyPprof,  // what gperftools, jemalloc and old Java and Go agents write
  kFirefox,      // of the Firefox Profiler, processed
  kSpeedscope,
  kCpuProfile,   // of V8: Chrome and Node.js
  kChromeTrace,  // trace events: CPU profiles in pieces, or slices
  kCallgrind,
  kOtlp,  // OpenTelemetry
};

struct NamedFormat {
  Format format;
  std::string_view name;   // as --format takes it
  std::string_view title;  // for a person
};
inline constexpr std::array kFormats = {
    NamedFormat{Format::kFolded, "folded", "folded stacks"},
    NamedFormat{Format::kPerfScript, "perf-script", "perf script text"},
    NamedFormat{Format::kPprof, "pprof", "pprof"},
    NamedFormat{Format::kLegacyPprof, "pprof-legacy", "legacy pprof"},
    NamedFormat{Format::kFirefox, "firefox", "Firefox Profiler"},
    NamedFormat{Format::kSpeedscope, "speedscope", "speedscope"},
    NamedFormat{Format::kCpuProfile, "cpuprofile", "V8 CPU profile"},
    NamedFormat{Format::kChromeTrace, "chrome-trace", "Chrome trace"},
    NamedFormat{Format::kCallgrind, "callgrind", "callgrind"},
    NamedFormat{Format::kOtlp, "otlp", "OpenTelemetry"},
};

const NamedFormat& Described(Format format);

// "folded, perf-script, …"
std::string FormatNames();

std::optional<Format> FormatNamed(std::string_view name);

// What a file is by its first bytes, which may be all of it. More than some 64 KiB make no
// difference but for JSON, whose members stand in any order. Compressed files have to be inflated
// first. Reading it may still fail.
std::optional<Format> Recognize(std::string_view start);

}  // namespace profiler::import
