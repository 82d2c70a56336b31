// Compares TracePrinter with libtraceevent, on records that it makes up for each tracepoint of a
// TRACING_DATA section.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::events {

struct TraceComparison {
  size_t events = 0;              // with a format that ParseTraceEvent accepts
  size_t records = 0;             // printed by both
  std::vector<std::string> left;  // events none of whose records TracePrinter prints
  std::vector<std::string>
      differences;  // "system:event: ours | libtraceevent's"; the first of each
};

// Makes `count` records for each tracepoint: random ones, and ones with small numbers, zeros, ones,
// empty texts, and texts outside of the record.
TraceComparison CompareTracePrints(std::string_view section, uint32_t count, uint32_t seed);

}  // namespace profiler::events
