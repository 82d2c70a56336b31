#include "src/terminal/restore.h"

#include <fcntl.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace profiler::terminal {
namespace {

// Signals that end the process.
constexpr std::array kEnding = {SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS,
                                SIGILL,  SIGFPE, SIGABRT, SIGPIPE};
constexpr std::array kNoticed = {SIGINT, SIGWINCH, SIGTSTP};
constexpr size_t kSignals = NSIG;
constexpr size_t kAlternateStack = 64 << 10;

// A control sequence for the handlers, which may not allocate.
struct Sequence {
  std::array<char, 512> bytes;
  size_t size = 0;

  void operator=(std::string_view text) {
    size = std::min(text.size(), bytes.size());
    std::memcpy(bytes.data(), text.data(), size);
  }
  void Write() const {
    [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, bytes.data(), size);
  }
};

// The state that the handlers read. Written while no handler is installed.
struct State {
  std::atomic<bool> is_open = false;  // True while the terminal has the settings of the screen.
  termios outside, inside;
  Sequence enter, leave;
  int notices = -1;                 // the writing end of the pipe of notices; -1: none
  std::atomic<int> interrupts = 0;  // number of interrupts that nobody has read
  std::array<struct sigaction, kSignals> former;
};
static_assert(std::atomic<bool>::is_always_lock_free);
State g_state;

void Leave() {
  if (!g_state.is_open.exchange(false)) return;
  g_state.leave.Write();
  tcsetattr(STDIN_FILENO, TCSADRAIN, &g_state.outside);
}

void Enter() {
  tcsetattr(STDIN_FILENO, TCSADRAIN, &g_state.inside);
  g_state.enter.Write();
  g_state.is_open = true;
}

void Notify(TerminalGuard::Notice notice) {
  const char byte = static_cast<char>(notice);
  [[maybe_unused]] const ssize_t written = write(g_state.notices, &byte, 1);
}

void HandleEnding(int signal) {
  const int error = errno;
  Leave();
  sigaction(signal, &g_state.former[static_cast<size_t>(signal)], nullptr);
  raise(signal);  // arrives when this handler returns
  errno = error;
}

void HandleInterrupt(int signal) {
  if (g_state.interrupts++ > 0) return HandleEnding(signal);
  const int error = errno;
  Notify(TerminalGuard::Notice::kInterrupt);
  errno = error;
}

void HandleResize(int) {
  const int error = errno;
  Notify(TerminalGuard::Notice::kResize);
  errno = error;
}

// Stops the process, and opens the screen again when it continues.
void HandleStop(int signal) {
  const int error = errno;
  Leave();
  struct sigaction handled, plain = {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, &handled);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, signal);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // stops here
  sigprocmask(SIG_BLOCK, &stop, nullptr);
  sigaction(signal, &handled, nullptr);
  // A shell may have changed the settings. They are the ones to restore at the end.
  tcgetattr(STDIN_FILENO, &g_state.outside);
  Enter();
  Notify(TerminalGuard::Notice::kContinue);
  errno = error;
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int crash : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigdelset(&action.sa_mask, crash);
  sigaction(signal, &action, &g_state.former[static_cast<size_t>(signal)]);
}

// Gives this thread a stack on which handlers run if its own stack overflows.
void UseAlternateStack() {
  stack_t present;
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  static const auto memory = std::make_unique<char[]>(kAlternateStack);
  const stack_t stack = {.ss_sp = memory.get(), .ss_flags = 0, .ss_size = kAlternateStack};
  sigaltstack(&stack, nullptr);
}

}  // namespace

TerminalGuard::TerminalGuard(Pipe notices) : notices_(std::move(notices)) {
  tcgetattr(STDIN_FILENO, &g_state.outside);
}

void TerminalGuard::Closed() { g_state.is_open = false; }

void TerminalGuard::Arm(const std::string& enter, const std::string& leave) {
  static const int at_exit = std::atexit(Leave);
  static_cast<void>(at_exit);
  g_state.notices = notices_.write_end.get();
  for (const int end : {notices_.read_end.get(), notices_.write_end.get()}) {
    fcntl(end, F_SETFL, O_NONBLOCK);
  }
  tcgetattr(STDIN_FILENO, &g_state.inside);
  g_state.enter = enter;
  g_state.leave = leave;
  g_state.interrupts = 0;
  UseAlternateStack();
  g_state.is_open = true;
  for (const int signal : kEnding) Handle(signal, HandleEnding);
  Handle(SIGINT, HandleInterrupt);
  Handle(SIGWINCH, HandleResize);
  Handle(SIGTSTP, HandleStop);
  // A signal that the process ignores stays ignored, such as SIGHUP below nohup.
  for (const int signal : kEnding) {
    const struct sigaction& former = g_state.former[static_cast<size_t>(signal)];
    if (former.sa_handler == SIG_IGN) sigaction(signal, &former, nullptr);
  }
}

TerminalGuard::~TerminalGuard() {
  Leave();
  for (const int signal : kEnding) {
    sigaction(signal, &g_state.former[static_cast<size_t>(signal)], nullptr);
  }
  for (const int signal : kNoticed) {
    sigaction(signal, &g_state.former[static_cast<size_t>(signal)], nullptr);
  }
}

TerminalGuard::Notice TerminalGuard::Take() {
  char byte = 0;
  if (read(descriptor(), &byte, 1) != 1) return Notice::kNone;
  const auto notice = static_cast<Notice>(byte);
  if (notice == Notice::kInterrupt) g_state.interrupts = 0;
  return notice;
}

}  // namespace profiler::terminal
