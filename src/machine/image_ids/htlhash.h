// Computes the build-id that OpenTelemetry defines for files to which the linker gave none:
//
//   SHA-256 of  the first 4096 bytes │ the last 4096 bytes │ length, u64 big-endian
//   id          the first 16 bytes of that SHA-256, in hexadecimal
//
// Source: OpenTelemetry's specification, profiles/mappings.md (2026).

#pragma once

#include <string>

namespace profiler::image_ids {

// Returns the id; empty if the file cannot be read. Cost: two reads, and some 40 µs.
std::string HtlhashOfFd(int fd);

}  // namespace profiler::image_ids
