#include "src/cli/recording/signal_counter.h"

#include <sys/time.h>
#include <unistd.h>

#include "src/base/unlink_on_signal.h"

namespace profiler::cli {
namespace {

constexpr suseconds_t kPatience = 900'000;  // microseconds
constexpr int kExitInterrupted = 130;       // a shell's exit code for SIGINT

volatile sig_atomic_t g_count = 0;

void SetTimer(suseconds_t microseconds) {
  const itimerval timer = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = microseconds}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void Count(int /*signal*/) { g_count = g_count + 1; }

void CountAndWait(int /*signal*/) {
  g_count = g_count + 1;
  SetTimer(kPatience);
}

void End(int /*signal*/) {
  UnlinkAllNow();
  _exit(kExitInterrupted);
}

}  // namespace

SignalCounter::SignalCounter(std::span<const int> signals, bool once, Within within)
    : signals_(signals), before_(g_count), within_(within) {
  struct sigaction count = {};
  count.sa_handler = within == Within::kObeyed ? CountAndWait : Count;
  count.sa_flags = SA_RESTART | (once ? static_cast<int>(SA_RESETHAND) : 0);
  if (within == Within::kObeyed) {
    struct sigaction end = {};
    end.sa_handler = End;
    sigaction(SIGALRM, &end, &former_[SIGALRM]);
  }
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
  if (within_ != Within::kObeyed) return;
  Obeyed();
  sigaction(SIGALRM, &former_[SIGALRM], nullptr);
}

int SignalCounter::count() const { return g_count - before_; }

void SignalCounter::Obeyed() const { SetTimer(0); }

}  // namespace profiler::cli
