// What a memory access met (PERF_SAMPLE_DATA_SRC), in the words of `perf script`.
// Source: include/uapi/linux/perf_event.h and tools/perf/util/mem-events.c, Linux 7.2.

#pragma once

#include <cstdint>
#include <string>

namespace profiler::perf_event {

// "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"
std::string DataSourceInPerfsWords(uint64_t data_src);

}  // namespace profiler::perf_event
