// Describes, in perf's words, the source (PERF_SAMPLE_DATA_SRC) and the cost (PERF_SAMPLE_WEIGHT)
// of an access to memory. Source: include/uapi/linux/perf_event.h and tools/perf/util/mem-events.c,
// Linux 7.2.

#pragma once

#include <cstdint>
#include <string>

namespace profiler::perf_event {

// The parts of a data_src as `perf report --mem-mode` shows them: "LOAD", "L1 hit", "None",
// "L1 or L2 hit", "No", " N/A".
struct DataSourceTexts {
  std::string op, level, snoop, tlb, locked, blocked;
};
DataSourceTexts DescribeAccess(uint64_t data_src);

// The data_src of samples that have none: each part is "N/A".
inline constexpr uint64_t kNoDataSource = 0x5080021;

// Returns, for example, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"
std::string DataSourceInPerfsWords(uint64_t data_src);

// The weights of a sample, as PERF_SAMPLE_WEIGHT or PERF_SAMPLE_WEIGHT_STRUCT lays them out.
struct AccessCost {
  uint64_t weight = 0;                                   // usually in cycles
  uint32_t instruction_latency = 0, retire_latency = 0;  // cycles; 0 without WEIGHT_STRUCT
};
AccessCost CostOf(uint64_t sample_type, uint64_t weight);

}  // namespace profiler::perf_event
