#include "src/machine/reader/reader_process.h"

#include <linux/capability.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "src/base/clock.h"
#include "src/base/kept_descriptor.h"
#include "src/base/raised_capabilities.h"

namespace profiler::reader {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free);

void KeepFewCapabilities(uint64_t few) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets = {};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return;
  for (__user_cap_data_struct& set : sets) {
    set.permitted &= static_cast<uint32_t>(few);
    set.effective = set.permitted;
    set.inheritable = 0;
    few >>= 32;
  }
  syscall(SYS_capset, &header, sets.data());
}

// Drops everything that a reader must not hold. Runs in the forker, before it forks readers.
void LetGo(int socket, const Service& service) {
  // The program may have raised capabilities when it forked.
  LowerCapabilities();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  KeepOneDescriptor(socket, STDERR_FILENO);
  setsid();
  if (chdir("/") != 0) return;  // unlikely; the directory then stays the program's
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_NAME, "profiler-reader");
  // A reader that opens files keeps the capabilities that can be raised. For each file it raises
  // the capabilities that the program has raised.
  const bool raises = service.sends_files && RaisableCapabilities() != 0;
  if (!raises) KeepFewCapabilities(service.capabilities);
}

void TakeOver(const Priority& priority) {
  const sched_param param{.sched_priority = priority.real_time};
  sched_setscheduler(0, priority.policy, &param);
  if (priority.policy == SCHED_OTHER) setpriority(PRIO_PROCESS, 0, priority.nice);
}

[[noreturn]] void RunReader(pid_t forker, const Priority& priority, Exchange& exchange,
                            const Service& service) {
  // Call prctl(2) before getppid(), so that a parent that ends in between is noticed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != forker) _exit(0);
  if (!service.sends_files) close(kKeptDescriptor);
  const int channel = service.sends_files ? kKeptDescriptor : -1;
  uint32_t version = 0;
  for (uint32_t answered = 0;;) {
    WaitWhile(exchange.asked, answered, nullptr);
    const uint32_t asked = exchange.asked.load(std::memory_order_acquire);
    if (asked == answered) continue;
    if (const uint32_t now = priority.version; now != version) {
      version = now;
      TakeOver(priority);
    }
    service.answer(exchange, channel);
    answered = asked;
    exchange.answered.store(asked, std::memory_order_release);
    WakeWaiter(exchange.answered);
  }
}

}  // namespace

void RunForker(int socket, Priority& priority, std::span<Exchange> exchanges,
               const Service& service) {
  LetGo(socket, service);
  const pid_t self = getpid();
  while (true) {
    uint8_t order = 0;
    const ssize_t count = ::read(kKeptDescriptor, &order, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(0);
    if (order == kEnd) break;
    Exchange& exchange = exchanges[order & kIndex];
    if ((order & kKill) != 0) {
      // The reader is not reaped, so no other process gets its number.
      if (exchange.process > 0) kill(exchange.process, SIGKILL);
      exchange.process = -1;
      continue;
    }
    const pid_t pid = fork();
    if (pid == 0) RunReader(self, priority, exchange, service);
    exchange.process = pid;
  }
  for (Exchange& exchange : exchanges) {
    const pid_t pid = exchange.process;
    if (pid <= 0) continue;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  _exit(0);
}

void WakeWaiter(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void WaitWhile(std::atomic<uint32_t>& word, uint32_t value, const uint64_t* deadline) {
  timespec until{};
  if (deadline != nullptr) {
    until = {.tv_sec = static_cast<time_t>(*deadline / kNanosecondsPerSecond),
             .tv_nsec = static_cast<long>(*deadline % kNanosecondsPerSecond)};
  }
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, value, deadline == nullptr ? nullptr : &until,
          nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace profiler::reader
