#include "src/reader/reader_process.h"

#include <linux/capability.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

#include "src/base/kept_descriptor.h"

namespace profiler::reader {
namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(kMostPieces <= IOV_MAX);

constexpr uint64_t kSecond = 1'000'000'000;

// Keeps the rights to read processes and to be scheduled as the program is.
void KeepFewCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets = {};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return;
  constexpr uint32_t kKept = uint32_t{1} << CAP_SYS_PTRACE | uint32_t{1} << CAP_DAC_READ_SEARCH |
                             uint32_t{1} << CAP_SYS_NICE;
  const uint32_t kept = sets[0].permitted & kKept;
  sets = {};
  sets[0].permitted = sets[0].effective = kept;
  syscall(SYS_capset, &header, sets.data());
}

// Takes from the forker what a reader must not hold.
void LetGo(int socket) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  KeepOneDescriptor(socket, STDERR_FILENO);
  setsid();
  if (chdir("/") != 0) return;  // there is nothing to be done about it
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_NAME, "profiler-reader");
  KeepFewCapabilities();
}

void TakeOver(const Priority& priority) {
  const sched_param param{.sched_priority = priority.real_time};
  sched_setscheduler(0, priority.policy, &param);
  if (priority.policy == SCHED_OTHER) setpriority(PRIO_PROCESS, 0, priority.nice);
}

[[noreturn]] void RunReader(pid_t forker, const Priority& priority, Exchange& exchange,
                            ReadFunction read) {
  // Set before the parent is looked at, which may have ended already.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != forker) _exit(0);
  close(kKeptDescriptor);
  uint32_t version = 0;
  for (uint32_t answered = 0;;) {
    WaitWhile(exchange.asked, answered, nullptr);
    const uint32_t asked = exchange.asked.load(std::memory_order_acquire);
    if (asked == answered) continue;
    if (const uint32_t now = priority.version; now != version) {
      version = now;
      TakeOver(priority);
    }
    exchange.result =
        read(exchange.pid, std::span(exchange.pieces).first(exchange.pieces_count), exchange.data);
    answered = asked;
    exchange.answered.store(asked, std::memory_order_release);
    WakeWaiter(exchange.answered);
  }
}

}  // namespace

int64_t ReadMemory(uint32_t pid, std::span<const RemotePiece> pieces, std::span<std::byte> into) {
  std::array<iovec, kMostPieces> remote;
  size_t size = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process.
    remote[i] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].size};
    size += pieces[i].size;
  }
  const iovec local{into.data(), size};
  const ssize_t count =
      process_vm_readv(static_cast<pid_t>(pid), &local, 1, remote.data(), pieces.size(), 0);
  return count < 0 ? -errno : count;
}

void RunForker(int socket, Priority& priority, std::span<Exchange> exchanges, ReadFunction read) {
  LetGo(socket);
  const pid_t self = getpid();
  while (true) {
    uint8_t order = 0;
    const ssize_t count = ::read(kKeptDescriptor, &order, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(0);
    if (order == kEnd) break;
    Exchange& exchange = exchanges[order & kIndex];
    if ((order & kKill) != 0) {
      // It is not waited for, so its number stays its own.
      if (exchange.process > 0) kill(exchange.process, SIGKILL);
      exchange.process = -1;
      continue;
    }
    const pid_t pid = fork();
    if (pid == 0) RunReader(self, priority, exchange, read);
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
    until = {.tv_sec = static_cast<time_t>(*deadline / kSecond),
             .tv_nsec = static_cast<long>(*deadline % kSecond)};
  }
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, value, deadline == nullptr ? nullptr : &until,
          nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace profiler::reader
