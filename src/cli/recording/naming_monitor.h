// The progress of naming on a terminal, and its interruption.

#pragma once

#include "src/cli/recording/signal_counter.h"
#include "src/cli/terminal/progress.h"
#include "src/profile/naming/collect_names.h"
#include "src/profile/naming/naming.h"

namespace profiler::cli {

// A monitor that shows the progress of naming on a terminal. Ctrl-C, SIGTERM or SIGHUP stops
// naming; a second signal ends the process.
class NamingMonitor {
 public:
  // `show`: True if progress is wanted. Only a terminal shows it.
  explicit NamingMonitor(bool show);
  naming::NamingProgress callback();
  // True if a signal stopped naming.
  bool was_ended() const { return signals_.count() != 0; }

 private:
  const SignalCounter signals_;
  Progress progress_;
};

// Shows the progress of debuginfod downloads until the result is destroyed. Ctrl-C skips the image
// that is shown.
symbolize::FetchMonitor WatchFetching();

}  // namespace profiler::cli
