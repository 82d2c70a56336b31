// Parses the samples in the output of `perf script`.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace profiler::conformance {

struct ScriptSample {
  int pid = 0, tid = 0;
  int cpu = -1;       // -1 if the CPU is not printed
  std::string time;   // seconds as printed: "171.188914"
  std::string event;  // name as printed, without the colon after it
  uint64_t period = 0;
  uint64_t addr = 0;
  std::vector<uint64_t> ips;  // the call chain, leaf first; without a chain, the ip
  std::vector<std::pair<uint64_t, uint64_t>> branches;  // (source, target) addresses
  std::vector<uint64_t> user_regs;                      // values, sorted by bit in the mask
};

// Parses `lines`, printed with -F and `fields`. Skips lines that are not samples (PERF_RECORD_*,
// trace errors).
std::vector<ScriptSample> ParseScript(const std::vector<std::string>& lines,
                                      const std::vector<std::string>& fields);

// True if two frames agree. perf prints user addresses in call chains relative to their file, so
// only the offset within the page is compared.
bool SameFrame(uint64_t ours, uint64_t perfs);

// Returns an event's name without ":H" and ":HG". perf 6.1 adds ":HG" if the event counts host and
// guests, and nothing if it counts the host only. perf 7.2 and this profiler add ":H" if it counts
// the host only.
std::string NameWithoutGuests(const std::string& name);

}  // namespace profiler::conformance
