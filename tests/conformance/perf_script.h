// The samples in the output of `perf script`.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace profiler::conformance {

struct ScriptSample {
  int pid = 0, tid = 0;
  int cpu = -1;       // -1 where it is not printed
  std::string time;   // "171.188914"
  std::string event;  // as printed, without its colon
  uint64_t period = 0;
  uint64_t addr = 0;
  std::vector<uint64_t> ips;  // the ip, or the call chain as printed, leaf first
  std::vector<std::pair<uint64_t, uint64_t>> branches;  // from, to
  std::vector<uint64_t> user_regs;                      // in the order of their mask
};

// `fields` are those of -F. Lines that are no samples (PERF_RECORD_*, trace errors) are passed
// over.
std::vector<ScriptSample> ParseScript(const std::vector<std::string>& lines,
                                      const std::vector<std::string>& fields);

// Whether a frame of ours is one of perf's, which shows addresses of user code relative to its file
// in call chains, so that only the place in the page is sure.
bool SameFrame(uint64_t ours, uint64_t perfs);

// An event's name without ":H" and ":HG": perf 6.1 says the latter of what counts host and guests,
// and nothing of what counts the host alone; perf 7.2, and so we, say the former of that.
std::string NameWithoutGuests(const std::string& name);

}  // namespace profiler::conformance
