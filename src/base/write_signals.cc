#include "src/base/write_signals.h"

#include <signal.h>

namespace profiler {
namespace {

// A signal and its former action: the parent process may already have ignored it.
struct WriteSignal {
  const int number;
  bool taken = false;
  struct sigaction former = {};
};
WriteSignal g_signals[] = {{SIGPIPE}, {SIGXFSZ}};

}  // namespace

void IgnoreWriteSignals() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (WriteSignal& signal : g_signals) {
    signal.taken = sigaction(signal.number, &ignore, &signal.former) == 0;
  }
}

void RestoreWriteSignals() {
  for (const WriteSignal& signal : g_signals) {
    if (signal.taken) sigaction(signal.number, &signal.former, nullptr);
  }
}

}  // namespace profiler
