// Describes record types and attrs as perf shows them in `perf report --stats` and `--header`.
// Source: tools/perf/util/event.c, tools/perf/util/perf_event_attr_fprintf.c, Linux 7.2.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/format/perf_event/attr.h"

namespace profiler::perf_event {

// Returns "SAMPLE", "MMAP2", "FINISHED_ROUND" …; empty for an unknown type.
std::string_view RecordTypeName(uint32_t type);

// Return the names of the bits, for example "IP|TID|TIME", and unknown bits as one hexadecimal
// number at the end.
std::string DescribeSampleType(uint64_t sample_type);
std::string DescribeReadFormat(uint64_t read_format);

// Returns name and value of every non-zero field, in perf's order: {"type", "1
// (PERF_TYPE_SOFTWARE)"}, {"size", "128"}, … Thread-safe.
std::vector<std::pair<std::string, std::string>> DescribeAttr(const Attr& attr);

}  // namespace profiler::perf_event
