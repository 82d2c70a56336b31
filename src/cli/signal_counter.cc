#include "src/cli/signal_counter.h"

namespace profiler::cli {
namespace {

volatile sig_atomic_t g_count = 0;

void Count(int /*signal*/) { g_count = g_count + 1; }

}  // namespace

SignalCounter::SignalCounter(std::span<const int> signals, bool once)
    : signals_(signals), before_(g_count) {
  struct sigaction count = {};
  count.sa_handler = Count;
  count.sa_flags = SA_RESTART | (once ? static_cast<int>(SA_RESETHAND) : 0);
  for (const int signal : signals_) {
    struct sigaction& former = former_[static_cast<size_t>(signal)];
    sigaction(signal, nullptr, &former);
    if (former.sa_handler != SIG_IGN) sigaction(signal, &count, nullptr);
  }
}

SignalCounter::~SignalCounter() {
  for (const int signal : signals_) {
    sigaction(signal, &former_[static_cast<size_t>(signal)], nullptr);
  }
}

int SignalCounter::count() const { return g_count - before_; }

}  // namespace profiler::cli
