#include "tests/faults/syscall_tracer.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "tests/faults/registers.h"

namespace profiler::tests {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestRun{30};
constexpr int kCannotStart = 127;
constexpr std::string_view kRing = "anon_inode:[perf_event]";

// How a call names the file that it changes. `at` is WatchedCall::at, an argument's index.
enum class Subject {
  kDescriptor,  // argument `at` is a descriptor of the file
  kPath,        // argument `at` is a path, relative to the directory in the argument before
  kPathHere,    // argument `at` is a path, relative to the working directory
  kCreated,     // like kPath; counted only if the call may create a file
};

// How a call states the number of bytes to write: not at all (kNothing), in its third argument
// (kThird), or in iovecs (kVectors).
enum class Amount { kNothing, kThird, kVectors };

struct WatchedCall {
  int number;
  const char* name;
  Subject subject;
  size_t at;
  Amount amount = Amount::kNothing;
};

constexpr WatchedCall kWatched[] = {
    {SYS_write, "write", Subject::kDescriptor, 0, Amount::kThird},
    {SYS_pwrite64, "pwrite64", Subject::kDescriptor, 0, Amount::kThird},
    {SYS_writev, "writev", Subject::kDescriptor, 0, Amount::kVectors},
    {SYS_pwritev, "pwritev", Subject::kDescriptor, 0, Amount::kVectors},
    {SYS_pwritev2, "pwritev2", Subject::kDescriptor, 0, Amount::kVectors},
    {SYS_sendfile, "sendfile", Subject::kDescriptor, 0},
    {SYS_copy_file_range, "copy_file_range", Subject::kDescriptor, 2},
    {SYS_fallocate, "fallocate", Subject::kDescriptor, 0},
    {SYS_ftruncate, "ftruncate", Subject::kDescriptor, 0},
    {SYS_fsync, "fsync", Subject::kDescriptor, 0},
    {SYS_fdatasync, "fdatasync", Subject::kDescriptor, 0},
    {SYS_mmap, "mmap", Subject::kDescriptor, 4},
    {SYS_openat, "openat", Subject::kCreated, 1},
    {SYS_linkat, "linkat", Subject::kPath, 1},
    {SYS_renameat, "renameat", Subject::kPath, 1},
    {SYS_renameat2, "renameat2", Subject::kPath, 1},
#ifdef SYS_rename
    {SYS_link, "link", Subject::kPathHere, 0},
    {SYS_rename, "rename", Subject::kPathHere, 0},
#endif
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// ---- the child before exec

// Installs a seccomp filter that stops the thread at each call of kWatched. All other calls run
// freely.
bool StopAtWatchedCalls() {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const WatchedCall& call : kWatched) {
    const auto number = static_cast<uint32_t>(call.number);
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

[[noreturn]] void BecomeProgram(const Program& program, int go, const sigset_t& signals) {
  std::vector<char*> pointers;
  for (const std::string& argument : program.argv) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  for (const std::string& variable : program.environment) {
    putenv(const_cast<char*>(variable.c_str()));
  }
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  dup2(open((program.folder + "/out").c_str(), kFlags, 0644), STDOUT_FILENO);
  dup2(open((program.folder + "/err").c_str(), kFlags, 0644), STDERR_FILENO);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  char begin = 0;
  const bool starts = chdir(program.folder.c_str()) == 0 && read(go, &begin, 1) == 1;
  if (starts && StopAtWatchedCalls()) execv(pointers[0], pointers.data());
  _exit(kCannotStart);
}

// ---- the file of a call

std::string LinkAt(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof(target));
  return size < 0 ? "" : std::string(target, static_cast<size_t>(size));
}

std::string DescriptorPath(pid_t thread, uint64_t descriptor) {
  const int number = static_cast<int>(descriptor);
  const std::string process = "/proc/" + std::to_string(thread);
  if (number == AT_FDCWD) return LinkAt(process + "/cwd");
  return LinkAt(process + "/fd/" + std::to_string(number));
}

bool ReadMemory(pid_t thread, uint64_t address, void* to, size_t size) {
  const iovec here = {to, size};
  const iovec there = {reinterpret_cast<void*>(address), size};
  return process_vm_readv(thread, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

std::string ReadText(pid_t thread, uint64_t address) {
  std::string text;
  for (char c = 0; text.size() < PATH_MAX && ReadMemory(thread, address, &c, 1) && c != 0;
       ++address) {
    text += c;
  }
  return text;
}

using Arguments = std::array<uint64_t, 6>;

std::string PathOf(pid_t thread, const WatchedCall& call, const Arguments& arguments) {
  if (call.subject == Subject::kDescriptor) return DescriptorPath(thread, arguments[call.at]);
  const std::string path = ReadText(thread, arguments[call.at]);
  if (path.starts_with("/")) return path;
  const bool is_here = call.subject == Subject::kPathHere;
  const uint64_t directory = is_here ? static_cast<uint64_t>(AT_FDCWD) : arguments[call.at - 1];
  return DescriptorPath(thread, directory) + "/" + path;
}

std::vector<iovec> VectorsOf(pid_t thread, const Arguments& arguments) {
  std::vector<iovec> vectors(std::min<uint64_t>(arguments[2], IOV_MAX));
  const size_t size = vectors.size() * sizeof(iovec);
  if (!ReadMemory(thread, arguments[1], vectors.data(), size)) vectors.clear();
  return vectors;
}

uint64_t BytesToWrite(pid_t thread, const WatchedCall& call, const Arguments& arguments) {
  if (call.amount == Amount::kNothing) return 0;
  if (call.amount == Amount::kThird) return arguments[2];
  uint64_t sum = 0;
  for (const iovec& vector : VectorsOf(thread, arguments)) sum += vector.iov_len;
  return sum;
}

// ---- the tracer

class Tracer {
 public:
  Tracer(const Program& program, const Fault& fault) : program_(program), fault_(fault) {
    sigemptyset(&child_signal_);
    sigaddset(&child_signal_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal_, &former_);
  }
  Tracer(const Tracer&) = delete;
  ~Tracer() { sigprocmask(SIG_SETMASK, &former_, nullptr); }

  Traced Run() {
    if (!Start()) return std::move(traced_);
    const auto give_up = steady_clock::now() + kLongestRun;
    for (int status = 0;;) {
      const pid_t thread = waitpid(-1, &status, __WALL | WNOHANG);
      if (thread < 0 && errno == ECHILD) break;
      if (thread > 0) {
        Take(thread, status);
      } else if (!WaitUntil(give_up)) {
        traced_.timed_out = true;
        KillAll();
      }
    }
    traced_.out = ReadAll(program_.folder + "/out");
    traced_.err = ReadAll(program_.folder + "/err");
    return std::move(traced_);
  }

 private:
  // A call that has begun but not ended.
  struct Pending {
    size_t counted = 0;                 // index in traced_.calls
    std::optional<Arguments> put_back;  // original arguments, if they were changed
    bool kills = false;
  };

  bool Start() {
    int go[2];
    if (pipe2(go, O_CLOEXEC) != 0) return false;
    main_ = fork();
    if (main_ == 0) BecomeProgram(program_, go[0], former_);
    close(go[0]);
    constexpr long kOptions = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                              PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    live_.insert(main_);
    // The child waits for a byte before it executes the program, and exits if it gets none.
    if (ptrace(PTRACE_SEIZE, main_, nullptr, kOptions) == 0) (void)!write(go[1], "", 1);
    close(go[1]);
    return main_ > 0;
  }

  // Waits until a child may have changed state, or until `give_up`. Returns false if `give_up` has
  // already passed.
  bool WaitUntil(steady_clock::time_point give_up) const {
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(give_up - steady_clock::now());
    if (left.count() <= 0) return false;
    const timespec timeout = {left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    sigtimedwait(&child_signal_, nullptr, &timeout);
    return true;
  }

  void KillAll() {
    is_killed_ = true;
    for (const pid_t thread : live_) kill(thread, SIGKILL);
  }

  void Take(pid_t thread, int status) {
    if (!WIFSTOPPED(status)) {
      live_.erase(thread);
      if (thread != main_) return;
      if (WIFEXITED(status)) traced_.exit_code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) traced_.signal = WTERMSIG(status);
      return;
    }
    live_.insert(thread);
    if (is_killed_) {
      kill(thread, SIGKILL);
      return;
    }
    constexpr int kCallEnded = SIGTRAP | 0x80;
    const int signal = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_SECCOMP) {
      BeginCall(thread);
    } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
      ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);  // a group stop: the thread stays stopped
    } else if (signal == kCallEnded) {
      EndCall(thread);
    } else {
      Continue(PTRACE_CONT, thread, event == 0 ? signal : 0);
    }
  }

  static void Continue(__ptrace_request how, pid_t thread, int signal = 0) {
    ptrace(how, thread, nullptr, static_cast<long>(signal));
  }

  void BeginCall(pid_t thread) {
    __ptrace_syscall_info info = {};
    ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info);
    Arguments arguments;
    std::ranges::copy(info.seccomp.args, arguments.begin());
    const WatchedCall* const call =
        std::ranges::find(kWatched, static_cast<int>(info.seccomp.nr), &WatchedCall::number);
    if (call == std::end(kWatched) || !IsCounted(thread, *call, arguments)) {
      Continue(PTRACE_CONT, thread);
      return;
    }
    if (!program_.has_hard_links && std::string_view(call->name).starts_with("link")) {
      Fail(thread, EPERM);
      Continue(PTRACE_CONT, thread);
      return;
    }
    traced_.calls.push_back(
        {call->name, PathOf(thread, *call, arguments), BytesToWrite(thread, *call, arguments)});
    Pending pending;
    pending.counted = traced_.calls.size() - 1;
    if (IsMeant()) Spoil(thread, *call, arguments, pending);
    pending_[thread] = pending;
    Continue(PTRACE_SYSCALL, thread);
  }

  bool IsCounted(pid_t thread, const WatchedCall& call, const Arguments& arguments) const {
    if (call.subject == Subject::kCreated && (arguments[2] & O_CREAT) == 0) return false;
    const std::string path = PathOf(thread, call, arguments);
    return path == kRing || path.starts_with(program_.watched + "/");
  }

  bool IsMeant() {
    if (fault_.kind == Fault::Kind::kNone) return false;
    // A write of fewer than 2 bytes cannot be shortened.
    if (fault_.kind == Fault::Kind::kShortWrite && traced_.calls.back().bytes < 2) return false;
    ++concerned_;
    if (concerned_ == fault_.at) traced_.spoilt = traced_.calls.size() - 1;
    return concerned_ == fault_.at ||
           (concerned_ > fault_.at && fault_.kind == Fault::Kind::kErrorsFromThereOn);
  }

  void Spoil(pid_t thread, const WatchedCall& call, const Arguments& arguments, Pending& pending) {
    if (fault_.kind == Fault::Kind::kKill) {
      pending.kills = true;
      return;
    }
    if (fault_.kind == Fault::Kind::kShortWrite) {
      pending.put_back = arguments;
      Shorten(thread, call, arguments);
    } else {
      Fail(thread, fault_.error);
    }
  }

  // Makes the call return -error without being made.
  static void Fail(pid_t thread, int error) {
    Registers registers(thread);
    registers.SetCall(-1);
    registers.SetResult(-error);
    registers.Store();
  }

  // Halves a write. A vectored write becomes a plain write of half the first piece, because the
  // tracer must not change the program's array.
  static void Shorten(pid_t thread, const WatchedCall& call, const Arguments& arguments) {
    Registers registers(thread);
    uint64_t bytes = arguments[2];
    if (call.amount == Amount::kVectors) {
      const iovec first = VectorsOf(thread, arguments).front();
      registers.SetCall(call.number == SYS_writev ? SYS_write : SYS_pwrite64);
      registers.second() = reinterpret_cast<uint64_t>(first.iov_base);
      bytes = first.iov_len;
    }
    registers.third() = std::max<uint64_t>(bytes / 2, 1);
    registers.Store();
  }

  void EndCall(pid_t thread) {
    const auto found = pending_.find(thread);
    if (found != pending_.end()) {
      const Pending pending = found->second;
      pending_.erase(found);
      __ptrace_syscall_info info = {};
      ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info);
      traced_.calls[pending.counted].result = info.exit.rval;
      if (pending.kills) return KillAll();
      if (pending.put_back) {
        Registers registers(thread);
        registers.second() = (*pending.put_back)[1];
        registers.third() = (*pending.put_back)[2];
        registers.Store();
      }
    }
    Continue(PTRACE_CONT, thread);
  }

  const Program& program_;
  const Fault fault_;
  sigset_t child_signal_, former_;
  pid_t main_ = -1;
  std::set<pid_t> live_;
  std::map<pid_t, Pending> pending_;
  size_t concerned_ = 0;  // number of calls so far that this kind of fault can spoil
  bool is_killed_ = false;
  Traced traced_;
};

}  // namespace

std::string WhyNothingIsTraced() {
  if (!kKnowsRegisters) return "the registers of this processor are not known";
  const std::string folder = std::string(getenv("TEST_TMPDIR"));
  const Traced traced = Trace({{"/bin/true"}, {}, folder, folder}, {});
  if (traced.exit_code == 0) return "";
  return "no program can be traced: ptrace(2) or seccomp(2) is not permitted";
}

Traced Trace(const Program& program, const Fault& fault) { return Tracer(program, fault).Run(); }

}  // namespace profiler::tests
