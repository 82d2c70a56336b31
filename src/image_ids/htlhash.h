// The build-id that OpenTelemetry defines for files that have none of their linker's:
//
//   SHA-256 of  the first 4096 bytes │ the last 4096 bytes │ length, u64 big-endian
//   id          the first 16 bytes of that, in hexadecimal
//
// Source: OpenTelemetry's specification, profiles/mappings.md (2026).

#pragma once

#include <string>

namespace profiler::image_ids {

// Empty if the file cannot be read. Cost: two reads, and some 40 µs.
std::string HtlhashOfFd(int fd);

}  // namespace profiler::image_ids
