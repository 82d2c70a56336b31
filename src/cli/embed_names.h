// Finds the names that a recording is to carry.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "src/base/embedded_names.h"
#include "src/base/sample_sums.h"
#include "src/base/status.h"
#include "src/cli/naming.h"
#include "src/perf_data/recording.h"
#include "symbolize/embedded_symbolizer.h"

namespace profiler::cli {

// Told now and then how many of the addresses (0: not known yet) have been looked up; false cuts
// the naming short.
using NamingProgress = std::function<bool(size_t named, size_t addresses)>;

struct CollectedNames {
  EmbeddedNames names;
  size_t addresses = 0;
  // Where the samples are so many that reading them again would take a while.
  std::optional<SampleSums> sums;
  absl::Status reading;  // what ended the reading early
};

// What goes into the recording, by feature bit.
std::map<int, std::string> SectionsOf(const CollectedNames& collected);

// Names every address that any view of the recording shows: those of call chains and, where they
// are recorded, of data and of branches; and sums the samples up. `options` says whether lines are
// looked for; names are always kept as the linker has them. Reads the recording once, and has a
// profile of its stacks in memory meanwhile.
CollectedNames CollectNames(perf_data::Recording& recording, NamingOptions options,
                            symbolize::EmbeddedOptions::Files files,
                            const NamingProgress& progress);

// Until the end of its scope Ctrl-C, SIGTERM and SIGHUP only set a flag, the first time.
class InterruptFlag {
 public:
  InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;
  ~InterruptFlag();

  static bool raised();
};

// Shows on a terminal how far naming has come, and stops it when a signal came.
class NamingMonitor {
 public:
  // `show`: standard error is a terminal and the user wants to see it.
  explicit NamingMonitor(bool show) : show_(show) {}
  ~NamingMonitor();

  NamingProgress callback();

 private:
  const InterruptFlag interrupted_;
  const bool show_;
  bool shown_ = false;
};

// From now on this process gives way to others.
void LowerPriority();

// "names of 1234 addresses of 25 images, 18.3 kB; sums of the samples, 201.0 kB".
std::string Describe(const CollectedNames& collected, const std::map<int, std::string>& sections);

}  // namespace profiler::cli
