// Writes a recording's records in the layout of `perf report -D`. Scripts search such output for
// PERF_RECORD_ and read the numbers that follow it:
//
//   0x3c0@perf.data [0x40]: event: 9
//   .
//   . ... raw event: size 64 bytes
//   .  0000:  09 00 00 00 02 00 40 00 e0 b3 27 be 14 7f 00 00  ......@...'.....
//   …
//
//   41310462899492 0x3c0 [0x40]: PERF_RECORD_SAMPLE(IP, 0x2): 8410/8410: 0x7f14be27b3e0 period: …
//   ... FP chain: nr:2
//   .....  0: fffffffffffffe00 (PERF_CONTEXT_USER)
//   .....  1: 00007f14be27b3e0
//    ... thread: ls:8410
//
// Omits the image of each sample (`dso:`) and decoded AUX data. For a stream, also omits the lines
// about events and sample times in HEADER_FEATURE records. Source: tools/perf/util/session.c,
// dump_event() and dump_sample(), Linux 7.2.

#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "src/base/status.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::perf_data {

// Writes the records of `recording` in perf's order to `sink`, in pieces. `name` is the name of the
// file. Returns the status of ForEach; everything that could be read has been written by then.
// Memory grows with the number of threads, not with the number of records.
absl::Status DumpAsPerf(Recording& recording, std::string_view name,
                        absl::FunctionRef<void(std::string_view)> sink);

}  // namespace profiler::perf_data
