// How naming goes, shown on a terminal while it lasts, and how it is cut short.

#pragma once

#include "src/cli/output.h"
#include "src/cli/signal_counter.h"
#include "src/naming/collect_names.h"
#include "src/naming/naming.h"

namespace profiler::cli {

// Shows on a terminal how far naming has come, and stops it when Ctrl-C, SIGTERM or SIGHUP came. A
// second one of them ends the process.
class NamingMonitor {
 public:
  // `show`: standard error is a terminal and the user wants to see it.
  explicit NamingMonitor(bool show);
  naming::NamingProgress callback();
  // One of those signals came.
  bool was_ended() const { return signals_.count() != 0; }

 private:
  const SignalCounter signals_;
  const bool show_;
  LiveLine line_;
};

// Shows what comes from debuginfod servers until it is destroyed; Ctrl-C skips the image that is
// shown.
symbolize::FetchMonitor WatchFetching();

// From now on this process gives way to others.
void LowerPriority();

}  // namespace profiler::cli
