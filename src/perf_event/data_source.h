// Formats the source of a memory access (PERF_SAMPLE_DATA_SRC) as `perf script` does.
// Source: include/uapi/linux/perf_event.h and tools/perf/util/mem-events.c, Linux 7.2.

#pragma once

#include <cstdint>
#include <string>

namespace profiler::perf_event {

// Returns, for example, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A".
std::string DataSourceInPerfsWords(uint64_t data_src);

}  // namespace profiler::perf_event
