#include "symbolize/confined/confined_process.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "src/base/clock.h"
#include "src/base/kept_descriptor.h"
#include "symbolize/confined/confinement.h"
#include "symbolize/confined/facts_protocol.h"
#include "symbolize/confined/sanitized.h"

namespace profiler::symbolize {
namespace {

// Descriptor of the socket in the child.
constexpr int kSocket = kKeptDescriptor;

// Returns the private memory of this process in bytes, as RLIMIT_DATA counts it.
uint64_t PrivateMemory() {
  std::ifstream statm("/proc/self/statm");
  std::array<uint64_t, 6> pages = {};
  for (uint64_t& count : pages) statm >> count;
  return pages[5] * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void LimitSoftly(int resource, uint64_t limit) {
  rlimit now = {};
  getrlimit(static_cast<__rlimit_resource>(resource), &now);
  now.rlim_cur = std::min<rlim_t>(limit, now.rlim_max);
  setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

// Ctrl-C is handled by the parent. All other signals get their default action, so that the parent's
// handlers do not run here. SIGBUS keeps its handler, because files may shrink.
void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) {
    if (number != SIGBUS) std::signal(number, SIG_DFL);
  }
  for (const int number : {SIGINT, SIGQUIT, SIGTSTP, SIGPIPE}) std::signal(number, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void Say(const absl::Status& status) {
  ContentWriter to;
  PutStatus(status, to);
  (void)Send(kSocket, {MessageKind::kReady, std::move(to).Take(), {}});
}

[[noreturn]] void RunChild(int socket, const std::function<void(int)>& serve) {
  constexpr uint64_t kMostDescriptors = 1024;
  ResetSignals();
  KeepOneDescriptor(socket, kSanitized ? STDOUT_FILENO : STDERR_FILENO);
  LimitSoftly(RLIMIT_CORE, 0);
  LimitSoftly(RLIMIT_FSIZE, 0);
  LimitSoftly(RLIMIT_NOFILE, kMostDescriptors);
  const absl::Status confined = ConfineThisProcess();
  Say(confined);
  if (confined.ok()) {
    try {
      serve(kSocket);
    } catch (const std::bad_alloc&) {
      _exit(ENOMEM);
    }
  }
  _exit(0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConfinedProcess>> ConfinedProcess::Start(
    const std::function<void(int socket)>& serve, FileRules& rules, const ConfinedBudget& budget) {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return ErrnoStatus(errno, "socketpair");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd its(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "fork");
  if (pid == 0) RunChild(its.get(), serve);
  std::unique_ptr<ConfinedProcess> process(
      new ConfinedProcess(pid, std::move(ours), rules, budget));
  PROFILER_RETURN_IF_ERROR(process->AwaitReady());
  return process;
}

ConfinedProcess::ConfinedProcess(pid_t pid, UniqueFd socket, FileRules& rules,
                                 const ConfinedBudget& budget)
    : pid_(pid),
      socket_(std::move(socket)),
      rules_(rules),
      budget_(budget),
      first_memory_(PrivateMemory()) {
  Grant();
}

ConfinedProcess::~ConfinedProcess() {
  if (pid_ != 0) (void)HowItEnded();
}

absl::Status ConfinedProcess::AwaitReady() {
  PROFILER_ASSIGN_OR_RETURN(const Message ready, ReceiveNext());
  ByteReader from(BytesOfText(ready.content));
  return ReadStatus(from);
}

absl::Status ConfinedProcess::Tell(MessageKind kind, std::string content) {
  return Send(socket_.get(), {kind, std::move(content), {}});
}

absl::StatusOr<std::string> ConfinedProcess::Ask(MessageKind kind, std::string content) {
  if (!Tell(kind, std::move(content)).ok()) return HowItEnded();
  while (true) {
    absl::StatusOr<Message> message = ReceiveNext();
    if (!message.ok()) return std::move(message).status();
    if (message->kind == MessageKind::kAnswer) return std::move(message->content);
    const absl::StatusOr<Message> reply = rules_.Answer(*message);
    if (!reply.ok()) return reply.status();
    Grant();
    if (!Send(socket_.get(), *reply).ok()) return HowItEnded();
  }
}

absl::StatusOr<Message> ConfinedProcess::ReceiveNext() {
  absl::StatusOr<Message> message = Receive(socket_.get(), [this] { return WaitForMore(); });
  if (message.ok() || absl::IsDeadlineExceeded(message.status())) return message;
  return HowItEnded();
}

// Waits for data from the child. The CPU time limit ends a child that computes for too long; a
// child that neither computes nor answers for 30 seconds counts as hanging.
absl::Status ConfinedProcess::WaitForMore() {
  constexpr int kMilliseconds = 100;
  constexpr int kMostIdleRounds = 300;
  int idle_rounds = 0;
  std::chrono::nanoseconds before{0};
  pollfd ready = {socket_.get(), POLLIN, 0};
  while (poll(&ready, 1, kMilliseconds) <= 0) {
    const std::chrono::nanoseconds spent = CpuTimeOf(pid_);
    constexpr uint64_t kMegabyte = uint64_t{1} << 20;
    const auto megabytes = static_cast<int64_t>(rules_.bytes_given() / kMegabyte);
    const auto granted =
        std::min(budget_.time + budget_.time_a_megabyte * megabytes, budget_.most_time) *
        (kSanitized ? 20 : 1);
    idle_rounds = spent == before ? idle_rounds + 1 : 0;
    before = spent;
    if (spent <= granted && idle_rounds < kMostIdleRounds) continue;
    (void)HowItEnded();
    return absl::DeadlineExceededError("it took too long");
  }
  return absl::OkStatus();
}

// Raises the memory limit. The time limit is checked in WaitForMore.
void ConfinedProcess::Grant() {
  if (kSanitized) return;
  rlimit limit = {};
  prlimit(pid_, RLIMIT_DATA, nullptr, &limit);
  const uint64_t granted =
      std::min(budget_.memory + budget_.memory_a_byte * rules_.bytes_given(), budget_.most_memory);
  limit.rlim_cur = std::min<rlim_t>(first_memory_ + granted, limit.rlim_max);
  prlimit(pid_, RLIMIT_DATA, &limit, nullptr);
}

absl::Status ConfinedProcess::HowItEnded() {
  if (pid_ == 0) return absl::DataLossError("it had ended before");
  int status = 0;
  // The child may have closed the socket without ending.
  kill(pid_, SIGKILL);
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == ENOMEM) {
    return absl::ResourceExhaustedError("it took too much memory");
  }
  return absl::DataLossError("reading it failed");
}

}  // namespace profiler::symbolize
